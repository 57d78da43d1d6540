'use strict';

// INDEX, in index.js, is a list of [name, page, summary].
(() => {
  const input = document.getElementById('search');
  const found = document.getElementById('found');

  /** How well a name fits: 0 is best, -1 is not at all. */
  const rank = (name, words) => {
    const lower = name.toLowerCase();
    if (!words.every(word => lower.includes(word))) {
      return -1;
    }
    const last = lower.split(/\\|::/).pop().replace(/^\$|\(\)$/g, '');
    const word = words[words.length - 1].split(/\\|::/).pop().replace(/^\$|\(\)$/g, '');
    return last === word ? 0 : last.startsWith(word) ? 1 : last.includes(word) ? 2 : 3;
  };

  const show = () => {
    const words = input.value.toLowerCase().split(/\s+/).filter(Boolean);
    found.replaceChildren();
    if (words.length === 0) {
      return;
    }
    INDEX.map(([name, page, summary]) => [rank(name, words), name, page, summary])
      .filter(([rank]) => rank >= 0)
      .sort((a, b) => a[0] - b[0] || a[1].length - b[1].length)
      .slice(0, 40)
      .forEach(([, name, page, summary]) => {
        const link = document.createElement('a');
        const small = document.createElement('small');
        link.href = page;
        small.textContent = summary;
        link.append(name, document.createElement('br'), small);
        const item = document.createElement('li');
        item.append(link);
        found.append(item);
      });
  };

  // index.html?q=… shows what is found at once.
  const asked = new URLSearchParams(location.search).get('q');
  if (asked) {
    input.value = asked;
    show();
  }
  input.addEventListener('input', show);
  found.addEventListener('click', () => { input.value = ''; show(); });
  document.addEventListener('keydown', event => {
    const links = [...found.querySelectorAll('a')];
    const at = links.indexOf(document.activeElement);
    if (event.key === '/' && document.activeElement !== input) {
      input.focus();
    } else if (event.key === 'Escape') {
      input.value = '';
      show();
    } else if (event.key === 'Enter' && document.activeElement === input && links.length > 0) {
      links[0].click();
    } else if (event.key === 'ArrowDown' && links.length > 0) {
      links[Math.min(at + 1, links.length - 1)].focus();
    } else if (event.key === 'ArrowUp' && at >= 0) {
      (links[at - 1] || input).focus();
    } else {
      return;
    }
    event.preventDefault();
  });
})();
