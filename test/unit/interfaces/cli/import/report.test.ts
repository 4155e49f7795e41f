import * as assert from 'uvu/assert'
import { ImportReport } from '../../../../../src/interfaces/cli/import/report.ts'
import { suite } from '../../../../kit/suite.ts'

const test = suite('cli/import/report')

test('import report: there are no headings without anything below them', () => {
  const report = new ImportReport('Resend', false)
  report.made('domains', 'here.example')
  const { text, isBad } = report.result()
  assert.not.match(text, /DNS records still to add|Not imported/)
  assert.match(text, /made: here\.example/)
  assert.is(isBad, false)
})

test('import report: records that are missing and what was not imported have a heading each', () => {
  const report = new ImportReport('Resend', false)
  report.dns.push({ type: 'MX', host: 'send.here.example', value: 'mail.here.example', priority: 10 })
  report.notes.push('1 topic')
  const { text } = report.result()
  assert.match(text, /DNS records still to add\n[\s\S]*send\.here\.example +10 mail\.here\.example/)
  assert.match(text, /Not imported\n {2}1 topic/)
})

test('import report: of more than 100 refusals, the rest is counted', () => {
  const report = new ImportReport('Resend', false)
  for (let i = 1; i <= 100; i++) report.unmade('contacts', `contact ${i}`, 'no')
  assert.not.match(report.result().text, / more$/m)
  report.unmade('contacts', 'contact 101', 'no')
  assert.match(report.result().text, /not made: contact 100: no\n {2}not made: 1 more$/)
})

test.run()
