/** Topics: types of broadcasts that contacts can subscribe to or unsubscribe from. */
import { useState } from 'preact/hooks'
import { call } from '../api/client.ts'
import { useLoad } from '../api/load.ts'
import type { List, Topic } from '../api/types.ts'
import { AreaField, Button, Choose, TextField } from '../components/controls.tsx'
import { confirmRemoval, FormDialog } from '../components/dialog.tsx'
import { useDraft } from '../components/draft.tsx'
import { actions, type Column, ResourceList, RowActs } from '../components/list.tsx'

const DEFAULTS = [
  ['opt_in', 'All contacts, unless they opt out'],
  ['opt_out', 'Only contacts who opt in'],
] as const

const VISIBILITIES = [
  ['public', 'All contacts'],
  ['private', 'Only its subscribers'],
] as const

export function Topics() {
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
    { head: 'Topic', text: ({ name }) => name, second: ({ description }) => description },
    {
      head: 'Default subscription',
      width: 164,
      text: ({ default_subscription }) => DEFAULTS.find(([value]) => value === default_subscription)![1],
    },
    {
      head: 'Visible to',
      width: 164,
      isExtra: true,
      text: ({ visibility }) => VISIBILITIES.find(([value]) => value === visibility)![1],
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
    <>
      <ResourceList<Topic>
        title="Topics"
        lead="Types of broadcasts, such as offers or news. Contacts can unsubscribe from each topic separately."
        acts={
          <Button small icon="plus" onClick={() => setOpen('new')}>
            Create topic
          </Button>
        }
        name="Topics"
        list={topics}
        columns={columns}
        keyOf={({ id }) => id}
        empty={{
          icon: 'audiences',
          title: 'No topics yet',
          children: 'Contacts can only unsubscribe from all broadcasts.',
        }}
      />
      {open && (
        <TopicDialog
          {...(open !== 'new' && { topic: open })}
          onClose={() => setOpen(undefined)}
          onDone={topics.reload}
        />
      )}
    </>
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
