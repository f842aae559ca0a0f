"""Public names are loaded when they are used, and nothing stands in their way."""

import inspect
import pkgutil
import subprocess
import sys

import voros


def test_every_public_name_is_found():
    for name in voros.__all__:
        assert getattr(voros, name) is not None
    assert set(voros.__all__) <= set(dir(voros))


def test_no_public_name_is_that_of_a_module():
    # Importing a module sets its name on the package, where it would hide the public one.
    modules = {module.name for module in pkgutil.iter_modules(voros.__path__)}
    assert modules & set(voros.__all__) == set()


def test_importing_alone_loads_nothing_heavy():
    code = "import sys, voros, voros.cli; print({'numpy', 'scipy', 'typer'} & set(sys.modules))"
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert ran.stdout == "set()\n"


def test_signatures_name_every_argument():
    functions = [getattr(voros, name) for name in voros.__all__]
    functions += [getattr(voros.inference, name) for name in voros.inference.__all__]
    for function in filter(inspect.isfunction, functions):
        kinds = {each.kind for each in inspect.signature(function).parameters.values()}
        assert kinds <= {inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY}
    shown = inspect.signature(voros.bootstrap).parameters
    named = ("n_resamples", "confidence", "method", "stratified", "groups", "random_state")
    defaults = [shown[name].default for name in named]
    assert defaults == [2000, 0.95, "auto", False, None, None]
    assert "method" not in inspect.signature(voros.inference.roc_band).parameters
