/** An address that leads nowhere. */
import { LinkButton } from '../components/controls.tsx'
import { Empty } from '../components/feedback.tsx'
import { Card, Head } from '../components/show.tsx'

export function NotThere() {
  return (
    <>
      <Head title="Nothing is here" />
      <Card flush>
        <Empty
          icon="search"
          title="Nobody lives at this address"
          act={<LinkButton href="/">To the overview</LinkButton>}
        >
          The link may be old, or what it led to may have been deleted.
        </Empty>
      </Card>
    </>
  )
}
