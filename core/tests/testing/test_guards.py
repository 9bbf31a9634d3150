import os
import socket
import subprocess
import sys
import threading

import pytest

from tfdist.testing.guards import LeakError, no_leaks


def test_what_is_put_away_again_is_no_leak():
    with no_leaks("threads", "processes", "ports", "environment"):
        thread = threading.Thread(target=lambda: None)
        thread.start()
        thread.join()
        subprocess.run([sys.executable, "-c", ""], check=True)
        with socket.create_server(("127.0.0.1", 0)):
            pass


def test_a_thread_that_goes_on_is_named():
    stop = threading.Event()
    thread = threading.Thread(target=stop.wait, args=(30,), name="reader-of-rows")
    with pytest.raises(LeakError, match="thread 'reader-of-rows'"), no_leaks("threads", grace_s=0):
        thread.start()
    stop.set()
    thread.join()


def test_a_thread_may_take_a_moment_to_end():
    stop = threading.Event()
    thread = threading.Thread(target=stop.wait, args=(0.2,))
    with no_leaks("threads", grace_s=10):
        thread.start()
    thread.join()


def test_a_child_process_is_named():
    command = [sys.executable, "-c", "input()", "the-child"]
    child = None
    try:
        with pytest.raises(LeakError, match="the-child"), no_leaks("processes", grace_s=0.1):
            child = subprocess.Popen(command, stdin=subprocess.PIPE)
    finally:
        assert child is not None
        child.communicate()


def test_a_port_is_named():
    with socket.socket() as server:
        server.bind(("127.0.0.1", 0))
        port = server.getsockname()[1]
        with pytest.raises(LeakError, match=f"port .*{port}"), no_leaks("ports", grace_s=0):
            server.listen()


def test_environment_variables_are_named_and_put_back(monkeypatch):
    monkeypatch.setenv("TFDIST_TEST_KEPT", "1")
    with (
        pytest.raises(LeakError, match="TFDIST_TEST_KEPT.*TFDIST_TEST_NEW"),
        no_leaks("environment"),
    ):
        os.environ["TFDIST_TEST_KEPT"] = "2"
        os.environ["TFDIST_TEST_NEW"] = "3"
    assert os.environ["TFDIST_TEST_KEPT"] == "1"
    assert "TFDIST_TEST_NEW" not in os.environ
