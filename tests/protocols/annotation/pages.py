"""What the page of an annotator sends, as far as tests need it."""

from itertools import count


class AnnotatorPage:
    """An annotator or adjudicator who has entered, with a browser."""

    def __init__(self, browser, store, worker, adjudicates=False):
        self.browser, self._ids = browser, count()
        if adjudicates:
            store.add_adjudicator(worker)
        answer = browser.post("/api/session", {"invitation": store.create_invitation(worker), "consent": True})
        assert answer.status_code == 201, answer.text
        self.session = answer.json()

    def get(self, path, **parameters):
        return self.browser.get(f"/api/{path}", parameters or None)

    def post(self, path, **body):
        return self.browser.post(f"/api/{path}", body)

    def next(self):
        """Reserve the next document and return its name."""
        return self.post("documents/next").json()["name"]

    def document(self, name):
        return self.get(f"documents/{name}").json()

    def change(self, name, revision, edits, id=None, **more):
        """Send a change; `edits` has labels by id, as (start, end, entity) or None."""
        items = [{"id": key, "after": _to_state(value)} for key, value in edits.items()]
        body = {"id": id or f"c{next(self._ids)}", "revision": revision, "edits": items, **more}
        return self.browser.post(f"/api/documents/{name}/changes", body)

    def call(self, name, action, **body):
        """Send undo, redo, finish, reopen or skip."""
        return self.browser.post(f"/api/documents/{name}/{action}", {"id": f"a{next(self._ids)}", **body})


def _to_state(value):
    if not isinstance(value, tuple):
        return value
    start, end, entity = value
    return {"label": {"start": start, "end": end, "entity": entity}}
