"""A real Chromium, driven by Debian's chromedriver over the WebDriver protocol: pages, scripts, keys, screenshots, what it asks the network for, what it complains of."""
import base64
import json
import re
import shutil
import subprocess
import tempfile
import urllib.error
import urllib.request

ELEMENT = "element-6066-11e4-a52e-4f735466cecf"
KEYS = {"Escape": "\ue00c", "ArrowRight": "\ue014", "ArrowLeft": "\ue012", "Enter": "\ue007", "Tab": "\ue004"}


class Browser:
    """One window. Use it with `with`."""

    def __enter__(self):
        if not shutil.which("chromedriver"):
            raise AssertionError("chromedriver is missing: tools/apt-install chromium chromium-driver")
        self.profile = tempfile.mkdtemp(prefix="pmend-html-")
        self.driver = subprocess.Popen(["chromedriver", "--port=0"], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, stdin=subprocess.DEVNULL)
        self.session = None
        try:
            self.connect()
        except BaseException:
            self.__exit__()
            raise
        return self

    def connect(self):
        port = None
        for line in self.driver.stdout:
            if found := re.search(r"started successfully on port (\d+)", line):
                port = found.group(1)
                break
        assert port, "chromedriver did not start"
        self.url = f"http://127.0.0.1:{port}"
        options = {"args": ["--headless=new", "--no-sandbox", "--disable-dev-shm-usage", "--disable-gpu", f"--user-data-dir={self.profile}"]}
        wanted = {"browserName": "chrome", "goog:chromeOptions": options, "goog:loggingPrefs": {"browser": "ALL", "performance": "ALL"}}
        self.session = self.call("POST", "/session", {"capabilities": {"alwaysMatch": wanted}})["sessionId"]

    def __exit__(self, *_):
        if self.session:
            self.call("DELETE", f"/session/{self.session}")
        self.driver.terminate()
        self.driver.wait()
        self.driver.stdout.close()
        shutil.rmtree(self.profile, ignore_errors=True)

    def call(self, method, path, body=None):
        data = json.dumps(body).encode() if body is not None else None
        request = urllib.request.Request(self.url + path, data=data, method=method, headers={"Content-Type": "application/json"})
        opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
        try:
            with opener.open(request, timeout=120) as answer:
                return json.load(answer)["value"]
        except urllib.error.HTTPError as e:
            raise AssertionError(f"{path}: {json.load(e)['value']['message'][:500]}") from None

    def do(self, what, body):
        return self.call("POST", f"/session/{self.session}/{what}", body)

    def open(self, path):
        self.do("url", {"url": "file://" + path})

    def js(self, code, *args):
        return self.do("execute/sync", {"script": code, "args": list(args)})

    def devtools(self, command, **params):
        return self.do("goog/cdp/execute", {"cmd": command, "params": params})

    def size(self, width, height=900):
        self.devtools("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=width < 600)

    def scheme(self, name):
        self.devtools("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": name}])

    def scripts(self, are_on):
        self.devtools("Emulation.setScriptExecutionDisabled", value=not are_on)

    def press(self, *keys):
        """Each key goes to what has the focus."""
        actions = [{"type": t, "value": KEYS.get(k, k)} for k in keys for t in ("keyDown", "keyUp")]
        self.do("actions", {"actions": [{"type": "key", "id": "keyboard", "actions": actions}]})

    def click(self, selector):
        element = self.do("element", {"using": "css selector", "value": selector})[ELEMENT]
        self.do(f"element/{element}/click", {})

    def choose(self, selector, value):
        """As a person would choose or type it: with the events that follow."""
        self.js("const e = document.querySelector(arguments[0]); e.value = arguments[1];"
                "e.dispatchEvent(new Event('input', { bubbles: true })); e.dispatchEvent(new Event('change', { bubbles: true }));", selector, value)

    def complaints(self):
        """What the console says: nothing, for a page that is right."""
        return [m["message"] for m in self.do("se/log", {"type": "browser"})]

    def requests(self):
        """Every address that was asked for since the last call."""
        events = [json.loads(m["message"])["message"] for m in self.do("se/log", {"type": "performance"})]
        return [e["params"]["request"]["url"] for e in events if e["method"] == "Network.requestWillBeSent"]

    def screenshot(self, path):
        """The whole page, with what is not drawn before it is scrolled to."""
        self.js("for (const e of document.querySelectorAll('article, #index tr')) e.style.contentVisibility = 'visible'")
        self.do("execute/async", {"script": "const done = arguments[0]; requestAnimationFrame(() => requestAnimationFrame(done))", "args": []})
        shot = self.devtools("Page.captureScreenshot", format="png", captureBeyondViewport=True)
        with open(path, "wb") as f:
            f.write(base64.b64decode(shot["data"]))
