/** Properties of a contact, edited in place with their types. */
import { useEffect, useState } from 'preact/hooks'
import { call } from '../api/client.ts'
import type { Contact } from '../api/types.ts'
import { Button, Choose, TextField } from '../components/controls.tsx'
import { FormDialog, useChange } from '../components/dialog.tsx'
import { Failure, say } from '../components/feedback.tsx'
import { Card } from '../components/show.tsx'

type Value = Contact['properties'][string]

const TYPES = [
  ['string', 'Text'],
  ['number', 'Number'],
  ['boolean', 'Yes or no'],
] as const
const BOOLEANS = [
  ['true', 'Yes'],
  ['false', 'No'],
] as const

interface PropertiesProps {
  contact: Contact
  path: string
  onChanged: () => void
}

export function PropertiesCard({ contact, path, onChanged }: PropertiesProps) {
  const [isAdding, setAdding] = useState(false)
  const save = async (name: string, value: Value | null) => {
    await call('PATCH', path, { properties: { [name]: value } })
    say(value === null ? `${name} was removed.` : `${name} was saved.`)
    onChanged()
  }
  const properties = Object.entries(contact.properties)
  return (
    <Card
      title="Properties"
      acts={
        <Button small icon="plus" onClick={() => setAdding(true)}>
          Add property
        </Button>
      }
    >
      {properties.length === 0 && <p class="quiet">There are no properties.</p>}
      <div class="thirds">
        {properties.map(([name, value]) => (
          <PropertyField key={name} name={name} value={value} save={save} />
        ))}
      </div>
      {isAdding && <AddProperty save={save} onClose={() => setAdding(false)} />}
    </Card>
  )
}

interface FieldProps {
  name: string
  value: Value
  save: (name: string, value: Value | null) => Promise<void>
}

/** Saves a changed value when the field is left or by Enter. The value keeps its type. */
function PropertyField({ name, value, save }: FieldProps) {
  const type = typeof value as 'string' | 'number' | 'boolean'
  const [text, setText] = useState(String(value))
  useEffect(() => setText(String(value)), [value])
  const { error, act } = useChange(async (changed: Value | null) => save(name, changed))
  const isWrong = typedValue(type, text) === undefined
  return (
    <div class="row">
      <div class="grow">
        {type === 'boolean' ? (
          <Choose label={name} value={text} options={BOOLEANS} onValue={one => act(one === 'true')} />
        ) : (
          <TextField
            label={name}
            value={text}
            onValue={setText}
            inputMode={type === 'number' ? 'decimal' : 'text'}
            fault={isWrong ? 'Enter a number.' : error?.of(`properties.${name}`)}
            onChange={event => {
              const changed = typedValue(type, event.currentTarget.value)
              if (changed !== undefined && changed !== value) act(changed)
            }}
          />
        )}
        {error && !error.isShown && <Failure error={error} />}
      </div>
      <Button small kind="plain" icon="trash" label={`Remove ${name}`} onClick={() => act(null)} />
    </div>
  )
}

function typedValue(type: string, text: string): Value | undefined {
  if (type === 'boolean') return text === 'true'
  if (type === 'string') return text
  const number = Number(text)
  return text.trim() === '' || !Number.isFinite(number) ? undefined : number
}

function AddProperty({ save, onClose }: Pick<FieldProps, 'save'> & { onClose: () => void }) {
  const [name, setName] = useState('')
  const [type, setType] = useState<string>('string')
  const [text, setText] = useState('')
  const value = typedValue(type, text)
  return (
    <FormDialog
      title="Add property"
      act="Add property"
      disabled={value === undefined}
      onClose={onClose}
      onSubmit={async () => {
        await save(name.trim(), value!)
        onClose()
      }}
    >
      {error => (
        <>
          <TextField
            label="Name"
            required
            autofocus
            value={name}
            onValue={setName}
            fault={error?.of(`properties.${name.trim()}`)}
          />
          <Choose
            label="Type"
            value={type}
            options={TYPES}
            onValue={one => {
              setType(one)
              setText(one === 'boolean' ? 'true' : '')
            }}
          />
          {type === 'boolean' ? (
            <Choose label="Value" value={text} options={BOOLEANS} onValue={setText} />
          ) : (
            <TextField
              label="Value"
              value={text}
              onValue={setText}
              inputMode={type === 'number' ? 'decimal' : 'text'}
            />
          )}
        </>
      )}
    </FormDialog>
  )
}
