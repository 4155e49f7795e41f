import * as assert from 'uvu/assert'
import {
  choicesOf,
  isAnswered,
  meaningsOf,
} from '../../../../src/interfaces/dashboard/web/labels/column-answers.ts'
import { suite } from '../../../kit/suite.ts'

const test = suite('answers about columns')

const question = (column: string, ...values: string[]) => ({
  column,
  values: values.map((value, row) => ({ value, row, email: null })),
})

test('column answers: unticked values mean subscribed', () => {
  const questions = [question('active', '0', '1'), question('code', 'x'), question('spam', '1')]
  const answers = {
    active: { use: 'values', left: ['0'] },
    code: { use: 'property', left: [] },
    spam: { use: 'ignore', left: [] },
  } as const
  assert.ok(isAnswered(questions, answers))
  assert.not(isAnswered(questions, { ...answers, spam: { use: '', left: [] } }))
  assert.equal(meaningsOf(questions, answers), {
    active: { 0: 'unsubscribed', 1: 'subscribed' },
    ...{ code: 'property', spam: 'ignore' },
  })
})

test('column answers: answers to earlier questions are kept', () => {
  const answers = { active: { use: 'values', left: [] } } as const
  assert.equal(
    meaningsOf([question('active', '2')], answers, { active: { 0: 'unsubscribed' }, code: 'ignore' }),
    { active: { 0: 'unsubscribed', 2: 'subscribed' }, code: 'ignore' },
  )
})

test('column answers: one choice stands for values that are not listed', () => {
  const values = Array.from({ length: 12 }, (_, i) => `v${i}`)
  assert.equal(choicesOf(question('a', ...values)), [...values, '*'])
  assert.equal(choicesOf(question('a', 'x')), ['x'])
})

test.run()
