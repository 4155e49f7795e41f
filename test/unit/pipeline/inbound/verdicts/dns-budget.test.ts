import * as assert from 'uvu/assert'
import {
  type BudgetedResolver,
  createDnsBudget,
} from '../../../../../src/pipeline/inbound/verdicts/dns-budget.ts'
import { suite } from '../../../../kit/suite.ts'

const test = suite('verdicts/dns-budget')

/** Resolver with the same TXT records for every name. */
const resolverOf = (records: readonly string[]) =>
  ({ txt: async () => ({ kind: 'found', records }) }) as unknown as BudgetedResolver

for (const [what, records, isTaken] of [
  ['100 records', Array(100).fill('x'), true],
  ['101 records', Array(101).fill('x'), false],
  ['a record of 8,192 characters', ['x'.repeat(8_192)], true],
  ['a record of 8,193 characters', ['x', 'x'.repeat(8_193)], false],
] as const)
  test(`an answer with ${what} is ${isTaken ? 'taken' : 'refused'}`, async () => {
    const budget = createDnsBudget(resolverOf(records), 10)
    const answer = await budget.ask('a.example', 'TXT').catch((error: Error) => error.message)
    assert.equal(answer, isTaken ? records : 'a.example: the answer is too large')
    assert.is(budget.failure(), isTaken ? undefined : 'a.example: the answer is too large')
  })

test('as many look-ups as the budget allows are made', async () => {
  const budget = createDnsBudget(resolverOf(['x']), 2)
  await budget.ask('a.example', 'TXT')
  await budget.ask('b.example', 'TXT')
  await budget.ask('c.example', 'TXT').then(
    () => assert.unreachable(),
    () => {},
  )
  assert.is(budget.failure(), 'more than 2 DNS look-ups')
})

test.run()
