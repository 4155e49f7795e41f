/** Whom a broadcast goes to, and how many will get it, in words. */
import { type Loaded, useLoad } from '../api/load.ts'
import type { Audience, Broadcast, Domain, List, RecipientPreview, Segment, Topic } from '../api/types.ts'
import { Pending } from '../components/feedback.tsx'
import { SKIP_WORDS, type Untracked, untrackedOf } from '../labels/broadcasts.ts'
import { count, counted } from '../labels/numbers.ts'

const NOT_FOUND = 404

export interface AudienceWords {
  /** The audience, with the segment: `Readers › In Vienna`. Empty while it is loaded. */
  to: string
  /** Undefined without a topic, and while it is loaded. */
  topic: string | undefined
}

export function useAudienceWords({
  audience_id,
  segment_id,
  topic_id,
}: Pick<Broadcast, 'audience_id' | 'segment_id' | 'topic_id'>): AudienceWords {
  const audience = useLoad<Audience>(`/audiences/${audience_id}`)
  const segment = useLoad<Segment>(segment_id && `/audiences/${audience_id}/segments/${segment_id}`)
  const topic = useLoad<Topic>(topic_id && `/topics/${topic_id}`)
  return {
    to: [nameOf(audience, 'Deleted audience'), segment_id && nameOf(segment, 'Deleted segment')]
      .filter(Boolean)
      .join(' › '),
    topic: nameOf(topic, 'Deleted topic'),
  }
}

function nameOf({ data, error }: Loaded<{ name: string }>, missing: string): string | undefined {
  return data?.name ?? (error?.status === NOT_FOUND ? missing : undefined)
}

/** Loads which reactions are not counted for mail from the sender. */
export function useUntracked(from: string): Untracked | undefined {
  const domains = useLoad<List<Domain>>('/domains?limit=100')
  return untrackedOf(from, domains.data?.data ?? [])
}

/** Loads the number of contacts who would get the stored broadcast. */
export function useRecipients(id: string): Loaded<RecipientPreview> {
  return useLoad<RecipientPreview>(`/broadcasts/${id}/recipients/preview`)
}

interface RecipientCountProps {
  recipients: Loaded<RecipientPreview>
  /** Whether the count is of another audience than the one on the screen. */
  isOutdated?: boolean
}

/** Number of contacts who will get the broadcast, and of those who are skipped, by reason. */
export function RecipientCount({ recipients, isOutdated = false }: RecipientCountProps) {
  const { data, error } = recipients
  if (error) return <Pending of={recipients} />
  if (!data || isOutdated) return <p role="status">Counting the recipients …</p>
  const skipped = Object.entries(data.skipped).filter(([, people]) => people > 0)
  return (
    <p role="status">
      <b>
        {data.complete ? '' : 'More than '}
        {counted(data.recipients, 'person', 'people')} will get it
      </b>
      {skipped.length > 0 &&
        `; skipped: ${skipped.map(([reason, people]) => `${count(people)} ${(SKIP_WORDS[reason] ?? reason).toLowerCase()}`).join(', ')}`}
      .
    </p>
  )
}
