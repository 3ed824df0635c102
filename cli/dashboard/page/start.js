// Says why the page has not started. This script stands alone, and old browsers understand it: it must work where the page's other scripts do not.
(function () {
  "use strict";
  var reasons = [];

  function say() {
    var why = document.getElementById("why");  // the page takes it away when it starts
    if (!why || reasons.length === 0) return;
    why.textContent = reasons.join(" ");
    document.documentElement.className = "failed";
  }

  function because(sentence) {
    reasons.push(sentence);
    say();
  }

  addEventListener("error", function (e) {
    var script = e.target;
    if (script && script.src) because("The browser did not get " + script.getAttribute("src") + (script.type === "module" ? ", or a file that it needs." : "."));
    else because("It stopped: " + (e.error && e.error.message || e.message) + " (" + e.filename + ", line " + e.lineno + ").");
  }, true);
  document.addEventListener("DOMContentLoaded", say);
})();
