"""A blend lowers the log loss as a search over all weights does, and scores new cases."""

import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.special import expit, logit
from sklearn.metrics import log_loss

import voros


def three_models(n=4000, seed=0):
    """Two models that each see another half of the risk, and noise."""
    rng = np.random.default_rng(seed)
    a, b = rng.normal(size=(2, n))
    y = rng.random(n) < expit(-2 + a + b)
    return y, {"a": expit(-2 + 2 * a), "b": 10 * b, "noise": rng.random(n)}


def test_the_log_loss_is_close_to_the_best_of_all_weights():
    y, scores = three_models()
    result = voros.blend(y, scores)
    lines = [result.intercepts[m] + result.slopes[m] * x for m, x in _inputs(result, scores)]

    def loss(free):
        weights = np.exp(free) / np.exp(free).sum()
        return log_loss(y, expit(weights @ np.array(lines)))

    best = minimize(loss, np.zeros(len(lines))).fun
    assert best - 1e-9 <= result.log_loss <= best + 5e-4
    assert result.log_loss == pytest.approx(log_loss(y, result.score(scores)))
    alone = [log_loss(y, expit(line)) for line in lines]
    assert result.log_loss < min(alone) - 0.02


def _inputs(result, scores):
    return [
        (m, logit(np.clip(scores[m], 1e-6, 1 - 1e-6)) if result.risks[m] else scores[m])
        for m in result.weights
    ]


def test_a_blend_ranks_new_cases_better_than_its_models():
    y, scores = three_models()
    y_new, new = three_models(seed=1)
    result = voros.blend(y, scores)
    limits = voros.Scenario(min_precision=0.3, capacity=0.2, cost_ratio=(0.1, 0.2))
    blended = voros.partial_voros_score(y_new, result.score(new), limits)
    assert blended > max(voros.partial_voros_score(y_new, s, limits) for s in new.values()) + 0.05


def test_shares_add_up_and_useless_models_are_left_out():
    y, scores = three_models()
    result = voros.blend(y, scores)
    assert sum(result.weights.values()) == pytest.approx(1)
    assert set(result.weights) == {"a", "b"}
    assert "blend of 2 models on 4,000 cases" in repr(result)


def test_any_order_and_further_columns_of_a_frame_will_do():
    pd = pytest.importorskip("pandas")
    y, scores = three_models(500)
    result = voros.blend(pd.Series(y), pd.DataFrame(scores))
    frame = pd.DataFrame({"age": 1.0, **{m: scores[m] for m in reversed(scores)}})
    np.testing.assert_array_equal(result.score(frame), result.score(scores))


def test_what_cannot_be_blended_is_named():
    y, scores = three_models(200)
    with pytest.raises(ValueError, match="scores hold one model; a blend needs at least two"):
        voros.blend(y, {"a": scores["a"]})
    with pytest.raises(ValueError, match="scores lack 'b'; the blend is a mean of them"):
        voros.blend(y, scores).score({"a": scores["a"]})
    with pytest.raises(ValueError, match="n_steps=0"):
        voros.blend(y, scores, n_steps=0)
    with pytest.raises(ValueError, match="model 'c': scores hold infinities"):
        voros.blend(y, {**scores, "c": np.where(y, np.inf, 0)})
    with pytest.raises(ValueError, match="holds positive cases only"):
        voros.blend(np.ones(200), scores)
