"""The page in Firefox, spoken to in its own protocol, Marionette: playwright drives only a Firefox of its own."""

import json
import shutil
import socket
import subprocess
import time

import numpy as np
import pytest

from horopca.geometry import lift

from .browsing import CAT, LABELS, X

FIREFOX = shutil.which("firefox-esr") or shutil.which("firefox")
CARNIVORES = [i for i, label in enumerate(LABELS) if label == "carnivore"]


class Marionette:
    """Commands to a Firefox that was started with --marionette."""

    def __init__(self, port):
        self.socket, self.asked = self.connected(port), 0
        self.read()  # it greets
        self.ask("WebDriver:NewSession", {"capabilities": {"alwaysMatch": {}}})

    @staticmethod
    def connected(port):
        for _ in range(600):
            try:
                return socket.create_connection(("127.0.0.1", port), timeout=60)
            except OSError:
                time.sleep(0.1)
        raise AssertionError("Firefox did not open its port")

    def read(self):
        head = b""
        while not head.endswith(b":"):
            head += self.socket.recv(1)
        left, parts = int(head[:-1]), []
        while left:
            parts.append(self.socket.recv(min(left, 65536)))
            left -= len(parts[-1])
        return json.loads(b"".join(parts))

    def ask(self, command, options):
        self.asked += 1
        text = json.dumps([0, self.asked, command, options]).encode()
        self.socket.sendall(b"%d:%s" % (len(text), text))
        _, _, error, answer = self.read()
        assert error is None, error
        return answer

    def act(self, statement):
        self.ask("WebDriver:ExecuteScript", {"script": f"{statement}; return null", "args": []})

    def until(self, condition):
        for _ in range(400):
            if self.ask("WebDriver:ExecuteScript", {"script": f"return Boolean({condition})", "args": []})["value"]:
                return
            time.sleep(0.05)
        raise AssertionError(f"{condition} did not come true")


FACE = "window.horopca"


@pytest.fixture(scope="module")
def firefox(tmp_path_factory):
    if FIREFOX is None:
        pytest.skip("there is no Firefox here")
    profile = tmp_path_factory.mktemp("firefox")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    settings = {"marionette.port": port, "ui.prefersReducedMotion": 1, "browser.shell.checkDefaultBrowser": False}
    lines = [f'user_pref("{key}", {json.dumps(value)});' for key, value in settings.items()]
    (profile / "user.js").write_text("\n".join(lines))
    command = [FIREFOX, "--headless", "--marionette", "--no-remote", "--profile", str(profile)]
    running = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    talk = Marionette(port)
    yield talk
    talk.socket.close()
    running.terminate()
    running.wait(30)


def ask(firefox, expression):
    """A value of the page's public face."""
    script = f"return JSON.stringify({FACE}.{expression})"
    return json.loads(firefox.ask("WebDriver:ExecuteScript", {"script": script, "args": []})["value"])


def settled(firefox):
    firefox.until(f"!{FACE}.state().flying")


def shown(firefox):
    return lift(np.array([ask(firefox, f"shown({i})") for i in range(len(X))]))


def test_the_page_selects_refits_and_comes_back_in_firefox(firefox, pages):
    firefox.ask("WebDriver:Navigate", {"url": pages("sunk")})
    firefox.until(FACE)
    settled(firefox)
    assert ask(firefox, "n") == len(X) and ask(firefox, "state()")["model"] == "equidistant"
    assert len(ask(firefox, "state()")["names"]) > 5 and len(ask(firefox, "rings()")) >= 3
    firefox.act(f"{FACE}.flyTo({CAT})")
    settled(firefox)
    assert np.abs(ask(firefox, f"shown({CAT})")).max() < 1e-9
    row = "[...document.querySelectorAll('#scale .row')].find((e) => e.textContent.startsWith('carnivore'))"
    firefox.act(f"{row}.firstChild.click()")
    assert ask(firefox, "state()")["selected"] == CARNIVORES
    before = shown(firefox)
    firefox.act("document.getElementById('refit').click()")
    firefox.until("document.getElementById('refitted')")
    settled(firefox)
    assert not np.allclose(shown(firefox), before)
    firefox.act("document.getElementById('unfit').click()")
    settled(firefox)
    assert np.allclose(shown(firefox), before, atol=1e-9)
    assert firefox.ask("WebDriver:TakeScreenshot", {"full": False})["value"]
    for model in ("poincare", "klein"):
        firefox.act(f"document.getElementById('{model}').click()")
        settled(firefox)
        assert ask(firefox, "state()")["model"] == model
