package theatre;

import com.fasterxml.jackson.databind.JsonNode;

/** The service that prints tickets. */
class Printer {
    private final String address;

    Printer(String address) {
        this.address = address;
    }

    JsonNode print(int ticket) {
        return PartnerCalls.call("POST", "http://" + address + "/tickets/" + ticket);
    }
}
