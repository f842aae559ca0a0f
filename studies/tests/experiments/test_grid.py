"""The candidates are the paper's, each with its own name and the estimator it says."""

from __future__ import annotations

from itertools import product

from voros_studies.experiments.grid import Candidate, paper_grid, quick_grid


def test_the_grid_is_the_table_of_the_paper():
    expected = [
        ("LogisticRegression", {"class_weight": {0: 1, 1: w}, "max_iter": i, "C": c})
        for w, i, c in product((1, 3, 9, 27), (1000, 49, 7, 1), (10, 100, 1e3, 1e4, 1e5))
    ]
    expected += [
        (
            "MLPClassifier",
            {"max_iter": i, "alpha": a, "hidden_layer_sizes": h, "learning_rate_init": r},
        )
        for i, a, h, r in product(
            (100, 200), (1e-4, 1e-3), ((64,), (64, 64), (128, 64)), (1e-3, 5e-4)
        )
    ]
    expected += [
        (
            "RandomForestClassifier",
            {"class_weight": {0: 1, 1: w}, "max_depth": d, "min_samples_leaf": m},
        )
        for w, d, m in product((1, 3, 9, 27), (4, 16, 64), (4, 16, 64))
    ]
    estimators = []
    for candidate in paper_grid():
        estimator = candidate.estimator(random_state=3)
        assert estimator.random_state == 3
        defaults = type(estimator)().get_params()
        changed = {k: v for k, v in estimator.get_params().items() if defaults[k] != v}
        changed.pop("random_state")
        estimators.append((type(estimator), changed))
    assert len(estimators) == len(expected) == 140
    for (kind, parameters), (name, wanted) in zip(estimators, expected, strict=True):
        assert kind.__name__ == name
        defaults = kind().get_params()
        assert parameters == {k: v for k, v in wanted.items() if defaults[k] != v}


def test_names_are_different_and_safe_for_files():
    names = [candidate.name for candidate in paper_grid()]
    assert len(set(names)) == 140
    assert all(set("/\\:*?<>| ").isdisjoint(name) for name in names)
    assert max(map(len, names)) < 120


def test_the_quick_grid_has_every_family():
    assert {candidate.family for candidate in quick_grid()} == {"LR", "MLP", "RF"}
    assert 9 <= len(quick_grid()) <= 20


def test_a_candidate_survives_json():
    import json

    for candidate in quick_grid():
        told = json.loads(json.dumps({"family": candidate.family, "p": candidate.parameters}))
        assert Candidate(told["family"], told["p"]).name == candidate.name
