// How the search ranks what it finds: Sphinx's own scores, with what is called as the question asks first, whether it is written
// "roi align", roi_align or RoIAlign; and for words that name a layer too, the page that most people mean.

const PLAIN = (text) => text.toLowerCase().replace(/[^a-z0-9]/g, "");
const QUESTION = (new URLSearchParams(window.location.search).get("q") ?? "").trim();
const MEANT = {
  threshold: "detectors", overlap: "detectors", webcam: "detectors", camera: "detectors", video: "detectors", docker: "docker",
  podman: "docker", container: "docker",
};

var Scorer = {
  // Sphinx's
  objNameMatch: 11, objPartialMatch: 6, objPrio: { 0: 15, 1: 5, 2: -5 }, objPrioDefault: 0,
  title: 15, partialTitle: 7, term: 5, partialTerm: 2,
  // ours
  score: ([page, title, , , score, , kind]) => {
    const name = title.split(/\.|>/).pop();
    if (QUESTION && PLAIN(name) === PLAIN(QUESTION)) score += kind === "object" ? 220 : 200;
    if (MEANT[QUESTION.toLowerCase()] === page) score += 300;
    return score;
  },
};
