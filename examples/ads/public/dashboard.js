'use strict';

// The campaigns of the API, with the sums of the last seven days.

const day = (offset) => new Date(Date.now() + offset * 86400000).toISOString().slice(0, 10);
const said = document.querySelector('#said');

async function ask(api, path, key) {
  const answer = await fetch(api + path, { headers: { Authorization: 'Bearer ' + key } });
  const body = await answer.json();
  if (!answer.ok) throw new Error(body.error);
  return body;
}

async function show(key) {
  const { api } = await (await fetch('api.json')).json();
  const { campaigns } = await ask(api, '/v1/campaigns?limit=50', key);
  const table = document.querySelector('#campaigns');
  const rows = [];
  for (const campaign of campaigns) {
    const sums = await ask(api, `/v1/campaigns/${campaign.id}/report?from=${day(-7)}&to=${day(1)}`, key);
    const rate = sums.impressions ? (100 * sums.clicks / sums.impressions).toFixed(2) : '';
    const row = document.createElement('tr');
    for (const text of [campaign.name, campaign.state, sums.impressions, sums.clicks, rate, (sums.cost_micros / 1e6).toFixed(2)]) {
      row.append(Object.assign(document.createElement('td'), { textContent: text }));
    }
    rows.push(row);
  }
  table.tBodies[0].replaceChildren(...rows);
  table.hidden = false;
  said.textContent = `${rows.length} campaigns`;
}

document.querySelector('#key').addEventListener('submit', (event) => {
  event.preventDefault();
  said.textContent = '';
  show(new FormData(event.target).get('key')).catch((error) => { said.textContent = error.message; });
});
