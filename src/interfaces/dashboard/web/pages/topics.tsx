/** Topics: types of broadcasts that contacts can subscribe to or unsubscribe from. */
import { useState } from 'preact/hooks'
import { call } from '../api/client.ts'
import { useLoad } from '../api/load.ts'
import type { List, Topic } from '../api/types.ts'
import { AreaField, Button, Choose, TextField } from '../components/controls.tsx'
import { confirmRemoval, FormDialog } from '../components/dialog.tsx'
import { useDraft } from '../components/draft.tsx'
import { actions, type Column, ListTable, RowActs } from '../components/list.tsx'
import { Card } from '../components/show.tsx'

const DEFAULTS = [
  ['opt_in', 'All contacts, unless they opt out'],
  ['opt_out', 'Only contacts who opt in'],
] as const

const VISIBILITIES = [
  ['public', 'All contacts'],
  ['private', 'Only its subscribers'],
] as const

export function TopicsCard() {
  const topics = useLoad<List<Topic>>('/topics?limit=100')
  const [open, setOpen] = useState<Topic | 'new'>()
  const remove = ({ id, name }: Topic) =>
    confirmRemoval('topic', {
      name,
      path: `/topics/${id}`,
      text: 'The topic preferences of all contacts will be deleted. This cannot be undone.',
      onRemoved: topics.reload,
    })
  const columns: Column<Topic>[] = [
    {
      head: 'Topic',
      cell: ({ name, description }) => (
        <>
          <b>{name}</b>
          {description && <div class="quiet small">{description}</div>}
        </>
      ),
    },
    {
      head: 'Default subscription',
      cell: ({ default_subscription }) => DEFAULTS.find(([value]) => value === default_subscription)![1],
    },
    {
      head: 'Shown on the preferences page to',
      cell: ({ visibility }) => VISIBILITIES.find(([value]) => value === visibility)![1],
    },
    actions(topic => (
      <RowActs
        onChange={() => setOpen(topic)}
        removal={`Delete ${topic.name}`}
        onRemove={() => remove(topic)}
      />
    )),
  ]
  return (
    <Card
      title="Topics"
      lead="Types of broadcasts, such as offers or news. Contacts can unsubscribe from each topic separately."
      flush
      acts={
        <Button small icon="plus" onClick={() => setOpen('new')}>
          Create topic
        </Button>
      }
    >
      <ListTable<Topic>
        caption="Topics"
        list={topics}
        columns={columns}
        keyOf={({ id }) => id}
        empty={
          <p class="card-body quiet">No topics yet: contacts can only unsubscribe from all broadcasts.</p>
        }
      />
      {open && (
        <TopicDialog
          {...(open !== 'new' && { topic: open })}
          onClose={() => setOpen(undefined)}
          onDone={topics.reload}
        />
      )}
    </Card>
  )
}

interface TopicDialogProps {
  topic?: Topic
  onClose: () => void
  onDone: () => void
}

function TopicDialog({ topic, onClose, onDone }: TopicDialogProps) {
  const draft = useDraft(`topic.${topic?.id ?? 'new'}`, {
    name: topic?.name ?? '',
    description: topic?.description ?? '',
    default_subscription: (topic?.default_subscription ?? 'opt_in') as string,
    visibility: (topic?.visibility ?? 'public') as string,
  })
  return (
    <FormDialog
      title={topic ? `Edit ${topic.name}` : 'Create topic'}
      act={topic ? 'Save topic' : 'Create topic'}
      draft={draft}
      onClose={onClose}
      onSubmit={async () => {
        const body = draft.value
        await (topic ? call('PATCH', `/topics/${topic.id}`, body) : call('POST', '/topics', body))
        onDone()
        onClose()
      }}
    >
      {error => (
        <>
          <TextField label="Name" required autofocus {...draft.field('name')} fault={error?.of('name')} />
          <AreaField
            label="Description"
            rows={2}
            hint="Contacts see it on the preferences page."
            {...draft.field('description')}
            fault={error?.of('description')}
          />
          <Choose label="Default subscription" options={DEFAULTS} {...draft.field('default_subscription')} />
          <Choose
            label="Shown on the preferences page to"
            options={VISIBILITIES}
            {...draft.field('visibility')}
          />
        </>
      )}
    </FormDialog>
  )
}
