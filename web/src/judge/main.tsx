// The client for judges: sign in, judge, finish.
import { render } from "preact";
import { useEffect, useState } from "preact/hooks";
import { isLeadUrl, LeadPage, watchLeadUrl } from "../common/lead";
import { SignIn } from "../common/sign-in";
import * as api from "./api";
import { Completion } from "./completion";
import { JudgingPage } from "./judging";

type Screen = { page: "entrance"; message: string } | { page: "work" } | { page: "exit"; progress: api.Progress };

function App({ campaign }: { campaign: api.Campaign }) {
  const [screen, setScreen] = useState<Screen>(
    location.hash.startsWith("#/join/") ? { page: "entrance", message: "" } : { page: "work" },
  );
  const [sessionCount, setSessionCount] = useState(0); // a new session resets the page
  const [invitation, setInvitation] = useState(location.hash);
  useEffect(() => {
    document.title = campaign.name;
    // An invitation that is pasted into the address of an open page.
    const enter = () => {
      if (!location.hash.startsWith("#/join/")) return;
      setInvitation(location.hash);
      setScreen({ page: "entrance", message: "" });
    };
    addEventListener("hashchange", enter);
    return () => removeEventListener("hashchange", enter);
  }, []);
  if (screen.page === "exit") return <Completion progress={screen.progress} />;
  if (screen.page === "entrance")
    return (
      <SignIn
        key={invitation}
        name={campaign.name}
        consent={campaign.consent}
        message={screen.message}
        startSession={api.startSession}
        onSignIn={() => {
          setSessionCount(sessionCount + 1);
          setScreen({ page: "work" });
        }}
      />
    );
  return (
    <JudgingPage
      key={sessionCount}
      campaign={campaign}
      onSessionEnd={(message) => setScreen({ page: "entrance", message: sessionCount ? message : "" })}
      onComplete={(progress) => setScreen({ page: "exit", progress })}
    />
  );
}

watchLeadUrl();
const root = document.getElementById("karat")!;
// The page says that it is loading until then.
const loading = api.loadCampaign().finally(() => root.replaceChildren());
loading.then(
  (campaign) => render(isLeadUrl() ? <LeadPage name={campaign.name} /> : <App campaign={campaign} />, root),
  (error: Error) =>
    render(
      <main class="session">
        <h1 class="summary">{error.message}</h1>
      </main>,
      root,
    ),
);
