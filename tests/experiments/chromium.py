"""Drives a headless Chromium over its debugging pipe, so that tests see a page as a reader does.

with Browser(profile_folder) as browser:
    page = browser.open(path, width=360)
    page.evaluate("document.title")
"""

from __future__ import annotations

import base64
import itertools
import json
import os
import select
import shutil
import subprocess
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, Self

COMMAND = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
_OPTIONS = (
    "--headless=new",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-extensions",
    "--disable-background-networking",
    "--disable-component-update",
    "--no-first-run",
    "--hide-scrollbars",
    "--font-render-hinting=none",
    "--remote-debugging-pipe",
)
_PATIENCE = 60.0


class Browser:
    """One Chromium process.

    Args:
        profile: an empty folder for its profile.
    """

    def __init__(self, profile: Path) -> None:
        if COMMAND is None:
            raise RuntimeError("there is no Chromium here")
        to_browser, self._write = os.pipe()
        self._read, from_browser = os.pipe()
        # It reads from the file descriptor 3 and writes to 4.
        command = f'exec "$@" 3<&{to_browser} 4>&{from_browser}'
        self._process = subprocess.Popen(
            ["bash", "-c", command, "chromium", COMMAND, *_OPTIONS, f"--user-data-dir={profile}", "about:blank"],
            pass_fds=(to_browser, from_browser),
            stderr=subprocess.DEVNULL,
        )
        os.close(to_browser)
        os.close(from_browser)
        self._numbers = itertools.count(1)
        self._buffer = b""
        self.events: list[dict[str, Any]] = []

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._process.kill()
        self._process.wait()
        os.close(self._read)
        os.close(self._write)

    def send(self, method: str, session: str | None = None, **parameters: Any) -> dict[str, Any]:
        """Give one command of the DevTools protocol; its result."""
        number = next(self._numbers)
        message = {"id": number, "method": method, "params": parameters} | ({"sessionId": session} if session else {})
        os.write(self._write, json.dumps(message).encode() + b"\0")
        while True:
            answer = self._receive(method)
            if answer.get("id") == number:
                if "error" in answer:
                    raise RuntimeError(f"{method}: {answer['error']['message']}")
                return dict(answer["result"])
            self.events.append(answer)

    def _receive(self, waiting_for: str) -> dict[str, Any]:
        while b"\0" not in self._buffer:
            if not select.select([self._read], [], [], _PATIENCE)[0]:
                raise TimeoutError(f"no answer from Chromium to {waiting_for}")
            self._buffer += os.read(self._read, 1 << 20)
        message, _, self._buffer = self._buffer.partition(b"\0")
        return dict(json.loads(message))

    def open(self, path: Path | str, fragment: str = "", **view: Any) -> Page:
        """A new tab with a file, or an address, in it, loaded; ``view`` as for `Page.view`."""
        target = self.send("Target.createTarget", url="about:blank")["targetId"]
        session = self.send("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        page = Page(self, target, session)
        for domain in ("Page", "Runtime", "Log", "Network"):
            page.send(f"{domain}.enable")
        page.view(**view)
        page.load((path if isinstance(path, str) else path.resolve().as_uri()) + fragment)
        return page


class Page:
    """A tab of a `Browser`."""

    def __init__(self, browser: Browser, target: str, session: str) -> None:
        self._browser, self._target, self._session = browser, target, session

    def send(self, method: str, **parameters: Any) -> dict[str, Any]:
        """Give a command of the DevTools protocol to this tab."""
        return self._browser.send(method, self._session, **parameters)

    def view(
        self, *, width: int = 1280, height: int = 900, scale: float = 1, dark: bool = False, scripts: bool = True
    ) -> None:
        """The size in CSS pixels, the zoom, the colour scheme, and whether scripts run.

        A browser's zoom leaves fewer CSS pixels, each of them larger: 200 % of 1280 is ``width=640, scale=2``.
        """
        self.send(
            "Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=scale, mobile=False
        )
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        self.send("Emulation.setEmulatedMedia", features=[scheme])
        self.send("Emulation.setScriptExecutionDisabled", value=not scripts)

    def load(self, address: str) -> None:
        """Go to an address and wait until everything is there."""
        self.send("Page.navigate", url=address)
        self.wait(lambda: any(event["method"] == "Page.loadEventFired" for event in self.events()))

    def wait(self, done: Callable[[], bool]) -> None:
        """Wait until something holds."""
        end = time.monotonic() + _PATIENCE
        while not done():
            if time.monotonic() > end:
                raise TimeoutError("Chromium did not come so far")
            self.send("Page.getLayoutMetrics")  # Takes in what events there are.

    def events(self) -> list[dict[str, Any]]:
        """What has happened in this tab."""
        return [event for event in self._browser.events if event.get("sessionId") == self._session]

    def complaints(self) -> list[str]:
        """Everything the page, or Chromium about the page, has written to the console; errors of scripts too."""
        names = ("Log.entryAdded", "Runtime.consoleAPICalled", "Runtime.exceptionThrown")
        return [json.dumps(event["params"]) for event in self.events() if event["method"] in names]

    def requests(self) -> list[str]:
        """The addresses the page has asked for, those that carry their content in themselves left out."""
        sent = [event["params"] for event in self.events() if event["method"] == "Network.requestWillBeSent"]
        return [url for found in sent if not (url := found["request"]["url"]).startswith("data:")]

    def evaluate(self, expression: str) -> Any:
        """The value of a JavaScript expression."""
        found = self.send("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        if "exceptionDetails" in found:
            raise RuntimeError(found["exceptionDetails"].get("exception", {}).get("description", expression))
        return found["result"].get("value")

    def press(self, key: str, text: str = "") -> None:
        """Press and release a key, such as "Tab", or "a" with the text "a"."""
        code = {"Tab": 9, "Enter": 13, "ArrowRight": 39, "ArrowDown": 40, "End": 35}.get(key, 0)
        typed = {"text": text} if text else {}
        self.send("Input.dispatchKeyEvent", type="keyDown", key=key, code=key, windowsVirtualKeyCode=code, **typed)
        self.send("Input.dispatchKeyEvent", type="keyUp", key=key, code=key, windowsVirtualKeyCode=code)

    def type(self, text: str) -> None:
        """Type a text into what has the focus."""
        self.send("Input.insertText", text=text)

    def shown_text(self) -> str:
        """What a reader can read, even where scripts may not run."""
        nodes = self.send("Accessibility.getFullAXTree")["nodes"]
        return " ".join(node["name"]["value"] for node in nodes if node["role"]["value"] == "StaticText")

    def close(self) -> None:
        """Close the tab, and forget what happened in it."""
        self._browser.send("Target.closeTarget", targetId=self._target)
        self._browser.events = [event for event in self._browser.events if event.get("sessionId") != self._session]

    def screenshot(self, path: Path) -> None:
        """A picture of what is in view."""
        found = self.send("Page.captureScreenshot", format="png")
        path.write_bytes(base64.b64decode(found["data"]))
