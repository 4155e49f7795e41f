/** Not-found page. */
import { LinkButton } from '../components/controls.tsx'
import { Empty } from '../components/feedback.tsx'
import { Card, Head } from '../components/show.tsx'

export function NotThere() {
  return (
    <>
      <Head title="Page not found" />
      <Card flush>
        <Empty
          icon="search"
          title="This page does not exist"
          act={<LinkButton href="/">Go to overview</LinkButton>}
        >
          The link may be outdated, or the object may have been deleted.
        </Empty>
      </Card>
    </>
  )
}
