"""Keras's thread-local state in other threads."""

import threading

import keras
from keras.src.backend.common import global_state

from tfdist.integrations.keras import thread_state


def in_thread(enter, function):
    result = []

    def main():
        with enter():
            result.append(function())

    thread = threading.Thread(target=main)
    thread.start()
    thread.join()
    return result[0]


def test_policy_and_scopes_are_carried():
    keras.config.set_dtype_policy("mixed_bfloat16")
    try:
        with keras.name_scope("outer"):
            enter = thread_state.carrier()
    finally:
        keras.config.set_dtype_policy("float32")

    def look():
        with keras.name_scope("inner"):
            variable_path = keras.src.backend.common.name_scope.current_path()
        return keras.config.dtype_policy().name, variable_path

    assert in_thread(enter, look) == ("mixed_bfloat16", "outer/inner")
    assert keras.config.dtype_policy().name == "float32"


def test_what_lasts_comes_back():
    before = getattr(global_state.GLOBAL_STATE_TRACKER, "global_seed_generator", None)
    vars(global_state.GLOBAL_STATE_TRACKER).pop("global_seed_generator", None)
    try:
        generator = in_thread(
            thread_state.carrier(), keras.src.random.seed_generator.global_seed_generator
        )
        assert keras.src.random.seed_generator.global_seed_generator() is generator
    finally:
        global_state.set_global_attribute("global_seed_generator", before)
