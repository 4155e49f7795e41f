/** Asks which values of the columns of a contact file mean that somebody has left. */
import { useState } from 'preact/hooks'
import type { ColumnQuestion } from '../api/client.ts'
import { Choose } from '../components/controls.tsx'
import { Note } from '../components/feedback.tsx'
import {
  type ColumnAnswer,
  type ColumnAnswers,
  type ColumnUse,
  choicesOf,
  isAnswered,
  meaningsOf,
  OTHER_VALUES,
} from '../labels/column-answers.ts'

const EXAMPLES_SHOWN = 3
const USES: readonly (readonly [ColumnUse, string])[] = [
  ['', 'Choose …'],
  ['values', 'Some of its values mean: unsubscribed'],
  ['property', 'It does not say who has left: import it as a property'],
  ['ignore', 'Do not import this column'],
]

/** Questions about the columns of a file, and the answers to them and to earlier ones. */
export function useColumnQuestions() {
  const [questions, setQuestions] = useState<readonly ColumnQuestion[]>([])
  const [answers, setAnswers] = useState<ColumnAnswers>({})
  const [earlier, setEarlier] = useState<Record<string, unknown>>({})
  const meanings = meaningsOf(questions, answers, earlier)
  return {
    ...{ questions, answers, setAnswers, meanings },
    /** Value of `column_meanings`. */
    query: Object.keys(meanings).length > 0 ? JSON.stringify(meanings) : undefined,
    isAnswered: isAnswered(questions, answers),
    /** The answers so far are kept. */
    ask(asked: readonly ColumnQuestion[]) {
      setQuestions(asked)
      setAnswers({})
      setEarlier(meanings)
    },
    reset() {
      setQuestions([])
      setAnswers({})
      setEarlier({})
    },
  }
}

export function ImportQuestions({ asked }: { asked: ReturnType<typeof useColumnQuestions> }) {
  const { questions, answers, setAnswers } = asked
  if (questions.length === 0) return null
  return (
    <>
      <Note tone="warn" isNews>
        <p>
          <b>Nothing was imported yet.</b> The file may say who has left. Tell what these columns mean, so
          that nobody who has left is subscribed.
        </p>
      </Note>
      {questions.map(question => (
        <Question
          key={question.column}
          question={question}
          answer={answers[question.column] ?? { use: '', left: [] }}
          onAnswer={answer => setAnswers({ ...answers, [question.column]: answer })}
        />
      ))}
    </>
  )
}

interface QuestionProps {
  question: ColumnQuestion
  answer: ColumnAnswer
  onAnswer: (answer: ColumnAnswer) => void
}

function Question({ question, answer, onAnswer }: QuestionProps) {
  const { use, left } = answer
  return (
    <fieldset class="stack stack-tight">
      <ul class="stack stack-tight small">
        {question.values.slice(0, EXAMPLES_SHOWN).map(({ value, row, email }) => (
          <li key={value}>
            <b>Row {row}</b> {email && <span class="mono">{email}</span>}{' '}
            <span class="quiet">
              {question.column}: <b>{shown(value)}</b>
            </span>
          </li>
        ))}
      </ul>
      <Choose
        label={`Column “${question.column}”`}
        value={use}
        options={USES}
        onValue={value => onAnswer({ use: value as ColumnUse, left })}
      />
      {use === 'values' &&
        choicesOf(question).map(value => (
          <label key={value} class="check">
            <input
              type="checkbox"
              checked={left.includes(value)}
              onChange={event =>
                onAnswer({
                  use,
                  left: event.currentTarget.checked
                    ? [...left, value]
                    : left.filter(other => other !== value),
                })
              }
            />
            <span>
              {value === OTHER_VALUES ? 'All other values mean' : <b>{shown(value)}</b>}
              {value !== OTHER_VALUES && ' means'} unsubscribed
            </span>
          </label>
        ))}
    </fieldset>
  )
}

function shown(value: string): string {
  return value === '' ? 'An empty cell' : value
}
