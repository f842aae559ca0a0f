"""`voros map --curves`: published curves, typed into a file."""

import json

import pytest

import voros

CURVES = {"steep": [(0.01, 0.3), (0.2, 0.5)], "late": [(0.05, 0.35), (0.3, 0.95)]}


def write_curves(folder, curves=CURVES):
    rows = [f"{model},{x},{y}" for model, points in curves.items() for x, y in points]
    (folder / "curves.csv").write_text("\n".join(["model,fpr,tpr", *rows]) + "\n")


def typed(fpr, tpr):
    return voros.OperatingPoints.from_points(fpr, tpr, 100, 900)


@pytest.mark.filterwarnings("ignore::voros.exceptions.NeverAlarmWarning")
def test_points_of_published_curves_are_mapped(voros_command, tmp_path):
    write_curves(tmp_path)
    grid = ("--min-precision", "0.1:0.5:5", "--capacity", "0.02:0.4:5", "--cost-ratio", "0.1")
    ran = voros_command("map", "curves.csv", "--curves", "100:900", *grid, "--json")
    assert ran.code == 0, ran.err
    points = {model: typed(*zip(*held, strict=True)) for model, held in CURVES.items()}
    won = set()
    for cell in json.loads(ran.out)["cells"]:
        limits = voros.Scenario(cell["min_precision"], cell["capacity"], cost_ratio=0.1)
        scores = {model: voros.evaluate(p, scenario=limits).score for model, p in points.items()}
        assert cell["winner"] in (max(scores, key=scores.get), None)
        won.add(cell["winner"])
    assert won >= {"steep", "late"}


def test_what_interpolation_changes_is_said(voros_command, tmp_path):
    """Of the second curve no typed point is within 4 % of the cases; on its lines many are."""
    write_curves(tmp_path, {"one": [(0.01, 0.05)], "two": [(0.2, 0.99)]})
    grid = ("--min-precision", "0.05:0.1:2", "--capacity", "0.03:0.04:2", "--cost-ratio", "0.1")
    ran = voros_command("map", "curves.csv", "--curves", "100:900", "--interpolate", *grid)
    assert ran.code == 0, ran.err
    assert "interpolation changes the winner on 100 % of the grid" in ran.out


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--interpolate"], "--interpolate requires --curves"),
        (["--curves", "100"], "accepted are two numbers of cases"),
        (
            ["--curves", "1:9", "--resamples", "100"],
            "--resamples and --curves are",
        ),
    ],
)
def test_curves_are_refused_with_what_needs_cases(voros_command, tmp_path, options, said):
    write_curves(tmp_path)
    ran = voros_command("map", "curves.csv", "--cost-ratio", "0.1", *options)
    assert ran.code == 2
    assert said in ran.err


def test_a_file_that_is_not_of_curves_is_named(voros_command, tmp_path):
    (tmp_path / "curves.csv").write_text("model,fpr\na,0.1\n")
    ran = voros_command("map", "curves.csv", "--cost-ratio", "0.1", "--curves", "1:9")
    assert "curves.csv has no column 'tpr'; curves have the columns" in ran.err
    write_curves(tmp_path, {"odd": [(1.5, 0.2)]})
    ran = voros_command("map", "curves.csv", "--cost-ratio", "0.1", "--curves", "1:9")
    assert "model 'odd'" in ran.err
