"""Public names are loaded when they are used, and nothing stands in their way."""

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
