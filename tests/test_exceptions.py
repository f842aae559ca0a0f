"""Messages know which of their parts name arguments."""

import pickle

import pytest

import voros
from voros.exceptions import Argument, ArgumentError, Message


def dashed(message):
    parts = message.parts
    return "".join(f"--{part.name}" if isinstance(part, Argument) else part for part in parts)


def test_an_error_of_the_library_carries_the_argument():
    with pytest.raises(ArgumentError, match=r"capacity=-1; accepted is") as caught:
        voros.Scenario(0.1, -1, 0.1)
    assert caught.value.argument == "capacity"


def test_a_message_within_a_message_keeps_its_arguments():
    inner = Message("pass ", Argument("pos_label"))
    outer = Message("cases.csv: ", inner, " or fix it")
    assert outer == "cases.csv: pass pos_label or fix it"
    assert dashed(outer) == "cases.csv: pass --pos_label or fix it"


def test_errors_survive_a_process_pool():
    error = pickle.loads(pickle.dumps(ArgumentError("capacity", "=-1")))
    assert (str(error), error.argument) == ("capacity=-1", "capacity")
    assert dashed(error.args[0]) == "--capacity=-1"
