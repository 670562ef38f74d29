"""The page in Debian's Firefox, which playwright cannot drive: a script uses the page and sends what it saw to a server."""

import functools
import http.server
import json
import os
import queue
import shutil
import signal
import subprocess
import threading

import numpy as np
import pytest

from .browsing import CAT, FELINES, PATIENCE

FIREFOX = shutil.which("firefox-esr") or shutil.which("firefox")
SCRIPT = """<iframe src="page.html" width="1280" height="800"></iframe><script>
const frame = document.querySelector("iframe"), page = () => frame.contentWindow.horopca;
const until = async (ready) => { while (!ready()) await new Promise((done) => setTimeout(done, 20)); };
(async () => {
  await until(() => page() && !page().state().flying);
  const seen = { first: page().screen(0), drawn: page().state().edges };
  page().flyTo(CAT);
  await until(() => !page().state().flying);
  Object.assign(seen, { cat: page().screen(CAT), names: page().state().names, state: page().state() });
  page().select(FELINES);
  seen.refit = await page().refit("distortion");
  let drawing = null;
  frame.contentWindow.URL.createObjectURL = (blob) => { drawing = blob; return "#"; };
  frame.contentDocument.getElementById("svg").click();
  await until(() => drawing);
  seen.svg = await drawing.text();
  return seen;
})().then((seen) => fetch("seen", { method: "POST", body: JSON.stringify(seen) }),
  (error) => fetch("seen", { method: "POST", body: JSON.stringify({ error: String(error) }) }));
</script>"""


@pytest.mark.skipif(FIREFOX is None, reason="there is no Firefox here")
def test_the_page_works_in_firefox(pages, tmp_path):
    shutil.copy(pages("sunk").removeprefix("file://"), tmp_path / "page.html")
    (tmp_path / "script.html").write_text(SCRIPT.replace("CAT", str(CAT)).replace("FELINES", str(FELINES)))
    answers = queue.Queue()

    class Server(http.server.SimpleHTTPRequestHandler):
        def do_POST(self):
            answers.put(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))
            self.send_response(204)
            self.end_headers()

        def log_message(self, *_):
            pass

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Server, directory=tmp_path)) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        (tmp_path / "profile").mkdir()
        (tmp_path / "profile" / "user.js").write_text('user_pref("ui.prefersReducedMotion", 1);')
        command = [FIREFOX, "--headless", "--no-remote", "--profile", str(tmp_path / "profile")]
        address = f"http://127.0.0.1:{server.server_port}/script.html"
        firefox = subprocess.Popen([*command, address], stderr=subprocess.DEVNULL, start_new_session=True)
        try:
            seen = answers.get(timeout=PATIENCE / 1000)
        finally:
            os.killpg(firefox.pid, signal.SIGKILL)  # with the processes of its pages, which write into the profile
            firefox.wait()
            server.shutdown()
    assert "error" not in seen, seen
    assert seen["drawn"] > 10 and "cat" in seen["names"] and np.abs(np.subtract(seen["cat"], seen["first"])).max() < 1e-6
    assert seen["refit"]["is"]["distortion"] < seen["refit"]["was"]["distortion"]
    assert seen["svg"].count("<circle") >= 47 and ">cat</text>" in seen["svg"]
