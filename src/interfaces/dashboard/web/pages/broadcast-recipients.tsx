/** Recipients of a broadcast, all or those with one result. */
import { withQuery } from '../api/client.ts'
import { useLoad } from '../api/load.ts'
import { useQuery } from '../api/query.ts'
import type { Broadcast, BroadcastRecipient } from '../api/types.ts'
import { Note } from '../components/feedback.tsx'
import { Chips, Filter, FilterBar, Search } from '../components/filters.tsx'
import { type Column, ResourceList, timeColumn } from '../components/list.tsx'
import type { PageProps } from '../components/page.ts'
import { usePaged } from '../components/paged.ts'
import { Head } from '../components/show.tsx'
import { recipientCount, SKIP_WORDS, titleOf, unlistedWords } from '../labels/broadcasts.ts'
import { count } from '../labels/numbers.ts'
import { contactPlace, RECIPIENT_TYPES, type RecipientType } from '../labels/places.ts'

/** While an address is being typed, it is no filter yet. */
const ADDRESS = /^[^\s@]+@[^\s@]+$/

export function BroadcastRecipients({ params: { id } }: PageProps) {
  const query = useQuery()
  const type = query.get('type')
  const reason = type === 'skipped' ? query.get('skip_reason') : ''
  const address = query.get('email')
  const broadcast = useLoad<Broadcast>(`/broadcasts/${id}`).data
  const link = type === 'clicked' ? query.get('link') : ''
  const filters = { type, skip_reason: reason, link, email: ADDRESS.test(address) ? address : '' }
  const list = usePaged<BroadcastRecipient>(`/broadcasts/${id}/recipients`, query, { filters })
  const { total } = list.data ?? {}
  const linkUrl = useLinkUrl(id!, link)
  const unlisted =
    broadcast && broadcast.status !== 'sending' && total !== undefined && filters.email === '' && link === ''
      ? unlistedWords(recipientCount(broadcast, typeOf(type), reason), total, typeOf(type))
      : undefined
  return (
    <>
      <Head
        title="Recipients"
        count={total === undefined ? undefined : count(total)}
        from={[`/broadcasts/${id}`, broadcast ? titleOf(broadcast) : 'Broadcast']}
      >
        <a
          class="button"
          href={withQuery(`/broadcasts/${id}/recipients/export`, filters)}
          download="recipients.csv"
        >
          Export CSV
        </a>
      </Head>
      <ResourceList<BroadcastRecipient>
        name="Recipients of the broadcast"
        list={{ ...list, isFiltered: list.isFiltered && !unlisted }}
        columns={columnsOf(type, reason)}
        keyOf={recipient => recipient.id}
        href={recipient => placeOf(recipient, broadcast)}
        empty={
          unlisted
            ? { icon: 'broadcasts', title: 'Only the number is known', children: unlisted }
            : {
                icon: 'broadcasts',
                title: 'No recipients',
                children: 'Recipients are listed once their emails have been created.',
              }
        }
      >
        <FilterBar
          query={query}
          names={['type', 'skip_reason']}
          search={<Search query={query} name="email" label="Address (exact match)" />}
        >
          <Filter query={query} name="type" label="Sent" options={RESULTS} />
          {type === 'skipped' && (
            <Filter
              query={query}
              name="skip_reason"
              label="Any reason"
              options={Object.entries(SKIP_WORDS)}
            />
          )}
        </FilterBar>
        {link !== '' && <Chips query={query} chips={[{ names: ['link'], label: 'Link', value: linkUrl }]} />}
        {unlisted && total !== 0 && <Note>{unlisted}</Note>}
      </ResourceList>
    </>
  )
}

/** @param link number of a link of the broadcast; empty for none */
function useLinkUrl(id: string, link: string): string {
  const after = Number(link) > 0 ? Number(link) - 1 : null
  const path = withQuery(`/broadcasts/${id}/clicked-links`, { limit: 1, after })
  const found = useLoad<{ data: { id: string; url: string }[] }>(link === '' ? null : path).data?.data[0]
  return found?.id === link ? found.url : `number ${link}`
}

/** Results that are filters; without one, the list has whom an email was sent to. */
const RESULTS = Object.entries(RECIPIENT_TYPES).filter(([type]) => type !== 'sent')

function typeOf(type: string): RecipientType {
  return Object.hasOwn(RECIPIENT_TYPES, type) ? (type as RecipientType) : 'sent'
}

/** Returns the email of a recipient, or the contact if there is no email. */
function placeOf(
  { id, contact_id }: BroadcastRecipient,
  broadcast: Broadcast | undefined,
): string | undefined {
  if (id.startsWith('eml_')) return `/emails/${id}`
  return contact_id && broadcast
    ? contactPlace({ id: contact_id, audience_id: broadcast.audience_id })
    : undefined
}

const COUNTED: Readonly<Record<string, string>> = { opened: 'Opens', clicked: 'Clicks' }

/**
 * @param type result of the recipients that are listed; empty for all who were sent to
 * @param reason why the listed ones were skipped; empty for any
 */
function columnsOf(type: string, reason: string): Column<BroadcastRecipient>[] {
  const columns: Column<BroadcastRecipient>[] = [
    { head: 'Recipient', text: ({ email }) => email ?? 'Deleted contact' },
  ]
  if (type === 'clicked')
    columns.push({
      head: 'Links',
      isExtra: true,
      text: ({ clicked_links = [] }) => clicked_links.map(({ url }) => url).join(', '),
    })
  const counted = COUNTED[type]
  if (counted) columns.push({ head: counted, kind: 'number', cell: ({ count: times = 0 }) => count(times) })
  if (type === 'bounced') columns.push({ head: 'Bounce', width: 160, text: ({ bounce_type }) => bounce_type })
  if (type === 'skipped' && reason === '')
    columns.push({
      head: 'Reason',
      width: 220,
      text: ({ skip_reason }) => skip_reason && SKIP_WORDS[skip_reason],
    })
  if (type === 'unsubscribed')
    columns.push(timeColumn('Unsubscribed', ({ unsubscribed_at }) => unsubscribed_at))
  return columns
}
