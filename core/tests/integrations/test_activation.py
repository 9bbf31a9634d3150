"""When the integration of Keras is put in place."""

import subprocess
import sys

import pytest

PROGRAMS = {
    "keras_first": "import keras; from tfdist.integrations import activate; activate(); activate()",
    "keras_later": "from tfdist.integrations import activate; activate(); activate()\n"
    "import sys; assert 'keras' not in sys.modules; import keras",
    "threads": "import threading; from tfdist.integrations import activate; import keras\n"
    "threads = [threading.Thread(target=activate) for _ in range(4)]\n"
    "[t.start() for t in threads]; [t.join() for t in threads]",
    "never": "import tfdist.integrations; import keras",
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_activation(name):
    check = "hasattr(keras.src.losses.loss.reduce_values, '_tfdist_around')"
    program = f"{PROGRAMS[name]}\nprint({check})"
    output = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, timeout=60, check=True
    ).stdout
    assert output.split()[-1] == str(name != "never")
