// The documents of an annotator.
import { useEffect, useRef, useState } from "preact/hooks";
import { FailureNotice } from "../common/components";
import { type DocumentInfo, type DocumentList, loadDocuments, reserveDocument } from "./api";
import { sendStoredOperations } from "./outbox";
import { LoadedPage, type PageProps, StatusText } from "./shell";

const STATE_TITLES: Record<DocumentInfo["state"], string> = { open: "open", done: "finished", skipped: "skipped" };

const openDocument = (name: string) => {
  location.hash = `#/document/${name}`;
};

export function DocumentsPage({ onSessionEnd, message, owner }: PageProps & { message: string; owner: string }) {
  // Changes that wait in this browser are part of the list.
  const load = () =>
    sendStoredOperations(owner)
      .catch(() => {})
      .then(loadDocuments);
  return (
    <LoadedPage load={load} className="session documents" onSessionEnd={onSessionEnd}>
      {(list) => <Documents list={list} message={message} />}
    </LoadedPage>
  );
}

function Documents({ list, message }: { list: DocumentList; message: string }) {
  const [failure, setFailure] = useState("");
  const [isEmpty, setEmpty] = useState(false);
  const startButton = useRef<HTMLButtonElement>(null);
  const heading = useRef<HTMLHeadingElement>(null);
  useEffect(() => (startButton.current ?? heading.current)?.focus(), []);
  const openDocuments = list.documents.filter(({ state }) => state === "open");
  const changedCount = list.documents.filter(({ changed }) => changed).length;
  const goOn = () => {
    setFailure("");
    if (openDocuments.length) return openDocument(openDocuments[0].name);
    reserveDocument().then(
      ({ name }) => (name === null ? setEmpty(true) : openDocument(name)),
      (error: Error) => setFailure(error.message),
    );
  };
  const hasWork = openDocuments.length > 0 || (list.remaining && !isEmpty);
  return (
    <>
      <h1 ref={heading} tabIndex={-1}>
        Documents
      </h1>
      {message && (
        <p role="status">
          <StatusText text={message} />
        </p>
      )}
      <p class="summary">
        {hasWork
          ? `${list.done} of ${list.total === 1 ? "1 document" : `${list.total} documents`} finished.`
          : list.done > 0
            ? "Thank you. You have finished all documents."
            : "No documents available."}
      </p>
      {hasWork && (
        <p>
          <button ref={startButton} type="submit" class="main" onClick={goOn}>
            {openDocuments.length ? `Continue with ${openDocuments[0].document}` : "Next document"}{" "}
            <kbd aria-hidden="true">Enter</kbd>
          </button>
        </p>
      )}
      {changedCount > 0 && (
        <p>
          The adjudicator decided otherwise in {changedCount === 1 ? "one document" : `${changedCount} documents`}.{" "}
          <a href="#/review">Review</a>
        </p>
      )}
      {failure && <FailureNotice message={failure} retry={goOn} />}
      {list.documents.length > 0 && (
        <div class="frame">
          <table class="sheet">
            <thead>
              <tr>
                <th scope="col">Document</th>
                <th scope="col">State</th>
                <th scope="col" class="number">
                  Labels
                </th>
                <th scope="col" class="number">
                  Round
                </th>
              </tr>
            </thead>
            <tbody>
              {list.documents.map((item) => (
                <tr key={item.name}>
                  <th scope="row">
                    <a href={`#/document/${item.name}`} dir="auto">
                      {item.document}
                    </a>
                  </th>
                  <td data-label="State">
                    {STATE_TITLES[item.state]}
                    {item.changed && " · decided otherwise"}
                  </td>
                  <td data-label="Labels" class="number">
                    {item.n_labels}
                  </td>
                  <td data-label="Round" class="number">
                    {item.round}
                  </td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
    </>
  );
}
