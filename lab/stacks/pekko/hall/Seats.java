package hall;

import org.apache.pekko.actor.AbstractActor;
import org.apache.pekko.actor.Props;

/** Gives seats, one message at a time: the box office is asked for each. */
class Seats extends AbstractActor {
    private final BoxOffice office;

    Seats(BoxOffice office) {
        this.office = office;
    }

    static Props props(BoxOffice office) {
        return Props.create(Seats.class, () -> new Seats(office));
    }

    @Override
    public Receive createReceive() {
        return receiveBuilder().match(Integer.class, concert -> getSender().tell(office.book(concert), getSelf())).build();
    }
}
