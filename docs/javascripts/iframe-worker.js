// Browsers start no workers from files. For pages that are opened from disk, this class runs the worker of the search in
// a hidden frame, so that the site can be searched without a server.
class FrameWorker extends EventTarget {
  constructor(url) {
    super();
    this.frame = document.createElement("iframe");
    this.frame.hidden = true;
    document.body.append(this.frame);
    const worker = this.frame.contentWindow;
    worker.document.open(); // some browsers would replace the first, empty document later
    worker.document.write("<body></body>");
    worker.document.close();
    this.ready = new Promise((resolve) => {
      const script = worker.document.createElement("script");
      script.src = url;
      script.onload = resolve;
      worker.postMessage = (data) => this.receive(data);
      worker.importScripts = () => undefined; // English needs no further script
      worker.document.body.append(script);
    });
  }

  receive(data) {
    const message = new MessageEvent("message", { data });
    this.dispatchEvent(message);
    this.onmessage?.(message);
  }

  postMessage(data) {
    this.ready.then(() => this.frame.contentWindow.dispatchEvent(new MessageEvent("message", { data })));
  }

  terminate() {
    this.frame.remove();
  }
}

if (location.protocol === "file:") window.Worker = FrameWorker;
