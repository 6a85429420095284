// The client for annotators and adjudicators.
import { render } from "preact";
import { useEffect, useState } from "preact/hooks";
import { isLeadUrl, LeadPage, watchLeadUrl } from "../common/lead";
import { SignIn } from "../common/sign-in";
import { AdjudicationListPage, AdjudicationPage } from "./adjudication";
import { AnnotatePage } from "./annotating";
import * as api from "./api";
import { DocumentsPage } from "./documents";
import { ReviewPage } from "./review";
import { Header, type Page } from "./shell";

/** Split the fragment of the URL into page and name. */
function parseRoute(): { page: string; name: string } {
  const [, page = "", name = ""] = location.hash.split("/");
  return { page, name };
}

function App({ initialProject }: { initialProject: api.Project }) {
  const [project, setProject] = useState(initialProject);
  const [route, setRoute] = useState(parseRoute);
  const [message, setMessage] = useState({ text: "", hash: "" }); // for the page with this fragment
  useEffect(() => {
    document.title = project.name;
    const updateRoute = () => {
      document.title = project.name; // pages of documents add the document
      setMessage((old) => (old.hash === location.hash ? old : { text: "", hash: "" }));
      setRoute(parseRoute());
    };
    addEventListener("hashchange", updateRoute);
    return () => removeEventListener("hashchange", updateRoute);
  }, []);
  const endSession = (text: string) => {
    setMessage({ text: project.role === null ? "" : text, hash: location.hash });
    setProject({ ...project, role: null });
  };
  if (project.role === null || route.page === "join")
    return (
      <SignIn
        key={route.page === "join" ? route.name : ""}
        name={project.name}
        consent={project.consent}
        message={message.text}
        startSession={async (invitation, consent) => {
          await api.startSession(invitation, consent);
          setProject(await api.loadProject());
        }}
        onSignIn={() => {
          setMessage({ text: "", hash: "" });
          setRoute(parseRoute());
        }}
      />
    );
  const isAdjudicator = project.role === "adjudicator";
  const page: Page =
    route.page === "review"
      ? "review"
      : isAdjudicator && (route.page === "adjudicate" || !route.page)
        ? "adjudicate"
        : "documents";
  const owner = project.person ?? ""; // unsent changes never go to another account
  const leavePage = (text: string, hash: string) => {
    setMessage({ text, hash });
    location.hash = hash;
  };
  const props = { project, onSessionEnd: endSession };
  return (
    <>
      <Header page={page} {...props} />
      {page === "review" ? (
        <ReviewPage {...props} />
      ) : page === "adjudicate" ? (
        route.name ? (
          <AdjudicationPage key={route.name} name={route.name} message={message.text} onLeave={leavePage} {...props} />
        ) : (
          <AdjudicationListPage message={message.text} {...props} />
        )
      ) : route.page === "document" && route.name ? (
        <AnnotatePage
          key={route.name}
          name={route.name}
          owner={owner}
          onFinish={(text) => leavePage(text, "#/documents")}
          {...props}
        />
      ) : (
        <DocumentsPage message={message.text} owner={owner} {...props} />
      )}
    </>
  );
}

watchLeadUrl();
const root = document.getElementById("karat")!;
// The page says that it is loading until then.
const loading = api.loadProject().finally(() => root.replaceChildren());
loading.then(
  (project) => render(isLeadUrl() ? <LeadPage name={project.name} /> : <App initialProject={project} />, root),
  (error: Error) =>
    render(
      <main class="session">
        <h1 class="summary">{error.message}</h1>
      </main>,
      root,
    ),
);
