import pytest

pytest_plugins = ["pytester"]

# A pytest of its own, in a process of its own: TensorFlow's devices are fixed once a process.
PLUGINS = ("-p", "no:cacheprovider")


@pytest.fixture
def project(pytester: pytest.Pytester) -> pytest.Pytester:
    pytester.makeini("[pytest]\ntfdist_virtual_devices = 3\ntfdist_guards = threads environment\n")
    return pytester


def test_devices_are_there_however_late_tensorflow_is_imported(project):
    project.makepyfile(
        """
        import sys

        def test_not_imported_for_nothing():
            assert "tensorflow" not in sys.modules

        def test_devices(virtual_devices, cpu_devices):
            import tensorflow as tf
            assert virtual_devices == ["CPU:0", "CPU:1", "CPU:2"]
            assert cpu_devices(2) == ["CPU:0", "CPU:1"]
            assert len(tf.config.list_logical_devices("CPU")) == 3
            with tf.device("CPU:2"):
                assert tf.constant(1).device.endswith("CPU:2")
        """
    )
    project.runpytest_subprocess(*PLUGINS).assert_outcomes(passed=2)


def test_asking_for_more_devices_than_there_are_fails_with_the_setting(project):
    project.makepyfile("def test_four(cpu_devices): cpu_devices(4)")
    result = project.runpytest_subprocess(*PLUGINS)
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["*4 CPU devices are needed*tfdist_virtual_devices gives 3*"])


def test_a_leak_is_an_error_of_the_test_that_leaves_it(project):
    project.makepyfile(
        """
        import os, threading, pytest

        def test_leaves_a_thread():
            threading.Thread(target=threading.Event().wait, daemon=True, name="left-over").start()

        def test_leaves_a_variable():
            os.environ["LEFT_OVER"] = "1"

        def test_leaves_nothing(monkeypatch):
            monkeypatch.setenv("SET_FOR_THE_TEST", "1")
            assert "LEFT_OVER" not in os.environ

        @pytest.mark.tfdist_leaves("environment")
        def test_may_leave_a_variable():
            os.environ["ALLOWED"] = "1"
        """
    )
    result = project.runpytest_subprocess(*PLUGINS)
    result.assert_outcomes(passed=4, errors=2)
    result.stdout.fnmatch_lines(["*left behind: daemon thread 'left-over'*"])
    result.stdout.fnmatch_lines(["*left behind: environment variable LEFT_OVER*"])


def test_other_projects_are_left_alone(pytester):
    pytester.makepyfile(
        """
        import os, sys

        def test_leaves_a_variable():
            os.environ["LEFT_OVER"] = "1"

        def test_sees_it(virtual_devices):
            assert os.environ["LEFT_OVER"] == "1"
            assert "tensorflow" not in sys.modules and "psutil" not in sys.modules
            assert virtual_devices == ["CPU:0"]
        """
    )
    pytester.runpytest_subprocess(*PLUGINS).assert_outcomes(passed=2)
