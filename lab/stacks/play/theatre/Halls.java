package theatre;

import java.util.ArrayList;
import java.util.List;

/** The halls, which know which of their seats are free. */
class Halls {
    private final String address;

    Halls(String address) {
        this.address = address;
    }

    Plan ask(int hall) {
        int free = 40 + PartnerCalls.call("GET", "http://" + address + "/halls/" + hall).get("cents").asInt() % 200;
        List<Integer> seats = new ArrayList<>(free);
        for (int n = 0; n < free; n++) {
            seats.add((n * 17 + hall) % 400);
        }
        return new Plan(hall, seats, System.nanoTime());
    }
}
