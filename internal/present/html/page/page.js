(function () {
  'use strict';
  var root = document.documentElement;

  function changed() { document.dispatchEvent(new Event('themechange')); }

  // Light or dark: as the system has it until the button is pressed. It is
  // remembered nowhere.
  var dark = matchMedia('(prefers-color-scheme: dark)');
  var button = document.getElementById('theme');
  function current() { return root.dataset.theme || (dark.matches ? 'dark' : 'light'); }
  function label() { button.textContent = current() === 'dark' ? 'Light' : 'Dark'; }
  if (button) {
    button.hidden = false;
    label();
    button.addEventListener('click', function () {
      root.dataset.theme = current() === 'dark' ? 'light' : 'dark';
      label();
      changed();
    });
    dark.addEventListener('change', label);
  }

  // Paper is light.
  // What is folded is unfolded on it, but for the frames that nobody asked for.
  var before, folded = [];
  addEventListener('beforeprint', function () {
    before = root.dataset.theme;
    folded = Array.prototype.filter.call(document.querySelectorAll('.threads details:not(.below)'), function (d) { return !d.open; });
    folded.forEach(function (d) { d.open = true; });
    root.dataset.theme = 'light';
    changed();
  });
  addEventListener('afterprint', function () {
    folded.forEach(function (d) { d.open = false; });
    if (before) root.dataset.theme = before; else delete root.dataset.theme;
    changed();
  });

  // What is to be copied gets a button.
  function select(node) {
    var range = document.createRange();
    range.selectNodeContents(node);
    var s = getSelection();
    s.removeAllRanges();
    s.addRange(range);
    return document.execCommand('copy');
  }
  function copyButton(box) {
    var text = box.querySelector('code, pre');
    var b = document.createElement('button');
    b.type = 'button';
    b.className = 'button noprint';
    b.textContent = 'Copy';
    b.setAttribute('aria-label', 'Copy: ' + text.textContent);
    function said(ok) {
      b.textContent = ok ? 'Copied' : 'Select';
      setTimeout(function () { b.textContent = 'Copy'; }, 1500);
    }
    b.addEventListener('click', function () {
      if (navigator.clipboard && navigator.clipboard.writeText) {
        navigator.clipboard.writeText(text.textContent).then(function () { said(true); }, function () { said(select(text)); });
      } else {
        said(select(text));
      }
    });
    box.appendChild(b);
  }
  Array.prototype.forEach.call(document.querySelectorAll('.copy'), copyButton);
})();
