// The page as a widget in a notebook, whose selection is synchronised with Python.

export default {
  render({ model, el }) {
    const frame = document.createElement("iframe");
    frame.srcdoc = model.get("html");
    frame.sandbox = "allow-scripts allow-downloads allow-popups allow-popups-to-escape-sandbox";
    frame.title = "Points in the hyperbolic plane";
    frame.style = "width: 100%; height: 640px; border: 0";
    el.append(frame);
    const send = () => frame.contentWindow?.postMessage({ horopca: "select", rows: model.get("selection") }, "*");
    let heard = "[]"; // what the page selected itself need not be sent back to it
    const hear = ({ source, data }) => {
      if (source !== frame.contentWindow) return;
      if (data?.horopca === "ready" && model.get("selection").length) send();
      if (data?.horopca !== "selection") return;
      heard = JSON.stringify(data.rows);
      model.set("selection", data.rows);
      model.save_changes();
    };
    const change = () => { if (JSON.stringify(model.get("selection")) !== heard) send(); };
    addEventListener("message", hear);
    model.on("change:selection", change);
    return () => { removeEventListener("message", hear); model.off("change:selection", change); };
  },
};
