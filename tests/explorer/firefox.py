"""Debian's Firefox, driven by its own protocol, Marionette: playwright drives only a build of its own."""

import json
import os
import shutil
import signal
import socket
import subprocess
import time
from contextlib import contextmanager
from types import SimpleNamespace

FIREFOX = shutil.which("firefox-esr") or shutil.which("firefox")
SETTINGS = {
    "marionette.port": 0,  # any that is free
    "ui.prefersReducedMotion": 1,
    "browser.shell.checkDefaultBrowser": False,
    "browser.startup.page": 0,  # nothing that a person would find in a new window, and no process kept for a next one
    "browser.newtabpage.enabled": False,
    "dom.ipc.processPrelaunch.enabled": False,
    "extensions.enabledScopes": 0,
    "browser.download.folderList": 2,  # the folder that browser.download.dir names
    "browser.download.alwaysOpenPanel": False,
    "dom.events.testing.asyncClipboard": True,  # to be read without a question
}
KEYS = {
    "Backspace": "\ue003", "Tab": "\ue004", "Enter": "\ue007", "Shift": "\ue008", "Escape": "\ue00c", "Home": "\ue011",
    "ArrowLeft": "\ue012", "ArrowUp": "\ue013", "ArrowRight": "\ue014", "ArrowDown": "\ue015",
}  # fmt: skip


def wait_for(look, what):
    """The first true value of look(). The test fails after minutes only: a busy machine may be slow."""
    for _ in range(15_000):
        if found := look():
            return found
        time.sleep(0.02)
    raise AssertionError(f"{what} did not come true")


class Firefox:
    """A Firefox with a new profile, and commands to it."""

    def __init__(self, folder):
        self.downloads = folder / "downloads"
        self.downloads.mkdir()
        settings = SETTINGS | {"browser.download.dir": str(self.downloads)}
        lines = [f'user_pref("{key}", {json.dumps(value)});' for key, value in settings.items()]
        (folder / "user.js").write_text("\n".join(lines))
        command = [FIREFOX, "--headless", "--marionette", "--no-remote", "--profile", str(folder)]
        size = {"MOZ_HEADLESS_WIDTH": "1600", "MOZ_HEADLESS_HEIGHT": "1200"}
        self.running = subprocess.Popen(
            command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=os.environ | size, start_new_session=True
        )
        port = folder / "MarionetteActivePort"  # Firefox writes the port that it has chosen there once it listens
        wait_for(lambda: port.exists() and port.read_text(), "the port of Firefox")
        self.socket, self.asked = socket.create_connection(("127.0.0.1", int(port.read_text())), timeout=300), 0
        self.read()  # it greets
        self.ask("WebDriver:NewSession", capabilities={"alwaysMatch": {}})

    def read(self):
        head = b""
        while not head.endswith(b":"):
            head += self.socket.recv(1)
        left, parts = int(head[:-1]), []
        while left:
            parts.append(self.socket.recv(min(left, 65536)))
            left -= len(parts[-1])
        return json.loads(b"".join(parts))

    def ask(self, command, **options):
        self.asked += 1
        text = json.dumps([0, self.asked, command, options]).encode()
        self.socket.sendall(b"%d:%s" % (len(text), text))
        _, _, error, answer = self.read()
        assert error is None, error
        return answer

    def run(self, script, *values):
        """The value of a script's `return`; a promise is waited for."""
        return self.ask("WebDriver:ExecuteScript", script=script, args=list(values))["value"]

    def act(self, kind, *actions):
        source = {"type": kind, "id": kind, "actions": list(actions)}
        if kind == "pointer":
            source["parameters"] = {"pointerType": "mouse"}
        self.ask("WebDriver:PerformActions", actions=[source])

    def opened(self, address, width, height):
        """A page in a window with this inner size."""
        self.ask("WebDriver:Navigate", url="about:blank")  # else one with another hash would be the same page
        self.ask("WebDriver:ReleaseActions")
        more = self.run("return [outerWidth - innerWidth, outerHeight - innerHeight]")
        self.ask("WebDriver:SetWindowRect", width=width + more[0], height=height + more[1])
        self.ask("WebDriver:Navigate", url=address)
        return Page(self)

    def close(self):
        self.socket.close()
        os.killpg(self.running.pid, signal.SIGKILL)  # none of its processes writes into the temporary profile any more
        self.running.wait()


class Mouse:
    def __init__(self, firefox):
        self.firefox, self.place = firefox, (0, 0)

    def move(self, x, y, steps=1):
        (u, v), self.place = self.place, (float(x), float(y))
        ways = [((u + (x - u) * k / steps), (v + (y - v) * k / steps)) for k in range(1, steps + 1)]
        moves = [{"type": "pointerMove", "duration": 0, "origin": "viewport", "x": float(x), "y": float(y)} for x, y in ways]
        self.firefox.act("pointer", *moves)

    def down(self):
        self.firefox.act("pointer", {"type": "pointerDown", "button": 0})

    def up(self):
        self.firefox.act("pointer", {"type": "pointerUp", "button": 0})

    def click(self, x, y):
        self.move(x, y)
        self.down()
        self.up()

    def wheel(self, across, down):
        x, y = map(round, self.place)
        scroll = {"type": "scroll", "duration": 0, "origin": "viewport", "x": x, "y": y, "deltaX": across, "deltaY": down}
        self.firefox.act("wheel", scroll)


class Keyboard:
    def __init__(self, firefox):
        self.firefox = firefox

    def down(self, key):
        self.firefox.act("key", {"type": "keyDown", "value": KEYS.get(key, key)})

    def up(self, key):
        self.firefox.act("key", {"type": "keyUp", "value": KEYS.get(key, key)})

    def press(self, key):
        self.down(key)
        self.up(key)

    def type(self, text):
        for letter in text:
            self.press(letter)


class Page:
    """A page, with the methods of playwright's that the tests in both browsers use."""

    def __init__(self, firefox):
        self.firefox, self.mouse, self.keyboard = firefox, Mouse(firefox), Keyboard(firefox)

    def evaluate(self, expression):
        answer = self.firefox.run(f"return Promise.resolve({expression}).then((value) => JSON.stringify(value ?? null))")
        return json.loads(answer)

    def of(self, selector, what):
        return self.evaluate(f"document.querySelector({json.dumps(selector)}){what}")

    def click(self, selector):
        """On its middle, once it is there, stays in its place and nothing covers it."""
        before = None

        def middle():
            nonlocal before
            last, before = before, self.of(selector, "?.getBoundingClientRect().toJSON()")
            if before is None or before != last:
                return None
            x, y = before["x"] + before["width"] / 2, before["y"] + before["height"] / 2
            return (x, y) if self.of(selector, f".contains(document.elementFromPoint({x}, {y}))") else None

        self.mouse.click(*wait_for(middle, f"{selector} in sight"))

    def focus(self, selector):
        self.of(selector, ".focus()")

    def inner_text(self, selector):
        return self.of(selector, ".innerText")

    def input_value(self, selector):
        return self.of(selector, ".value")

    def is_visible(self, selector):
        return self.of(selector, "?.checkVisibility() ?? false")

    def is_hidden(self, selector):
        return not self.is_visible(selector)

    def select_option(self, selector, label):
        wanted = f"[...e.options].find((o) => o.textContent === {json.dumps(label)}).value"
        choose = f"((e) => {{ e.value = {wanted}; e.dispatchEvent(new Event('change')); }})"
        self.evaluate(f"{choose}(document.querySelector({json.dumps(selector)}))")

    @contextmanager
    def expect_download(self):
        """What is downloaded meanwhile, whole."""
        before, caught = set(self.firefox.downloads.iterdir()), SimpleNamespace(value=None)
        yield caught

        def whole():
            new = set(self.firefox.downloads.iterdir()) - before
            # on its way there is a file NAME.part, beside an empty one of the name it will have, or before that one
            return len(new) == 1 and (path := new.pop()).suffix != ".part" and path.stat().st_size and path

        path = wait_for(whole, "a download")
        # taken away, so that the next of its name has the name to itself
        caught.value = SimpleNamespace(suggested_filename=path.name, save_as=lambda to: shutil.move(path, to))
