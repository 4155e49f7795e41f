import { spawnSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import * as assert from 'uvu/assert'
import { folder } from '../../kit/backups.ts'
import { isOnPostgres } from '../../kit/database.ts'
import { freePort } from '../../kit/free-port.ts'
import { startProgram } from '../../kit/process.ts'
import { suite, type TestContext } from '../../kit/suite.ts'
import { until } from '../../kit/until.ts'

/** The alert rules and the dashboard of `packaging/monitoring`, by the tool of Prometheus. */
const test = suite('monitoring', { limitMs: 120_000 })
const files = join(import.meta.dirname, '../../../packaging/monitoring')
const RULES = join(files, 'mailhorn-alerts.yaml')
const NAME = /\b(?:mailhorn|process)_[a-z0-9_]+\b/g
/** Suffixes of the series of a histogram. */
const SERIES = /_(?:bucket|sum|count)$/

/** Runs promtool, which must find no fault. @returns what it prints */
function promtool(args: readonly string[], input = ''): string {
  const { status, stdout, stderr, error } = spawnSync('promtool', args, { input, encoding: 'utf8' })
  if (error) throw error
  assert.is(status, 0, `promtool ${args.join(' ')}: ${stdout}${stderr}`)
  return stdout + stderr
}

interface Target {
  expr: string
}

function dashboardExpressions(): string[] {
  const { panels } = JSON.parse(readFileSync(join(files, 'grafana-dashboard.json'), 'utf8')) as {
    panels: { targets?: Target[] }[]
  }
  return panels.flatMap(({ targets = [] }) => targets.map(({ expr }) => expr))
}

/** Scrapes a service that has made a backup, as Prometheus does. */
async function scrape(t: TestContext): Promise<string> {
  const parent = folder(t)
  const port = await freePort()
  const settings = {
    METRICS_LISTEN: `127.0.0.1:${port}`,
    ...(!isOnPostgres && { BACKUP_FOLDER: join(parent, 'backups') }),
  }
  await t.using(startProgram({ dataDir: join(parent, 'data'), settings }))
  return until(async () => {
    const text = await (await fetch(`http://127.0.0.1:${port}/metrics`)).text()
    return isOnPostgres || /^mailhorn_backup_age_seconds /m.test(text) ? text : undefined
  })
}

test('the rules are valid, and raise and end alerts as their tests say', () => {
  assert.match(promtool(['check', 'rules', RULES]), /SUCCESS: \d+ rules found/)
  assert.match(promtool(['test', 'rules', join(files, 'mailhorn-alerts.test.yaml')]), /SUCCESS/)
})

test('docs/monitoring.md says what to do about each alert', () => {
  const text = readFileSync(join(files, '../../docs/monitoring.md'), 'utf8')
  const alerts = [...readFileSync(RULES, 'utf8').matchAll(/^ *- alert: (\w+)$/gm)].map(([, name]) => name!)
  assert.equal(
    alerts.filter(name => !text.includes(`\`${name}\``)),
    [],
  )
})

test('the configuration for Prometheus is valid', () => {
  promtool(['check', 'config', '--syntax-only', join(files, 'prometheus.yaml')])
})

test('the metrics of a service follow the conventions, and have all that rules and dashboard name', async t => {
  const text = await scrape(t)
  promtool(['check', 'metrics'], text)
  const known = new Map([...text.matchAll(/^# TYPE (\S+) (\S+)$/gm)].map(([, name, type]) => [name!, type!]))
  const texts = [readFileSync(RULES, 'utf8').replaceAll(/^ *#.*$/gm, ''), ...dashboardExpressions()]
  const named = new Set(texts.flatMap(each => each.match(NAME) ?? []))
  const unknown = [...named].filter(
    name => !known.has(name) && known.get(name.replace(SERIES, '')) !== 'histogram',
  )
  assert.equal(unknown, [])
  assert.ok(named.size > 25, 'names were found')
})

test('Prometheus can read each expression of the dashboard', t => {
  const rules = dashboardExpressions().map((expr, i) => ({
    record: `panel:${i}`,
    expr: expr.replaceAll('$__rate_interval', '2m').replaceAll('$instance', '.*'),
  }))
  const path = join(folder(t), 'rules.json')
  writeFileSync(path, JSON.stringify({ groups: [{ name: 'panels', rules }] }))
  promtool(['check', 'rules', path])
})

test.run()
