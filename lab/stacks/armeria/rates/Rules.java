package rates;

import com.fasterxml.jackson.core.type.TypeReference;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.util.ArrayList;
import java.util.List;

/** The rules by which a rate is made, of which each zone has some. */
class Rules {
    /** A rule as its authors write it. */
    public static class Rule {
        public int zone;
        public String name;
        public List<Integer> steps = new ArrayList<>();
        public String note;
    }

    private static final int ZONES = 200;
    private final ObjectMapper mapper = new ObjectMapper();
    private final List<Rule> all = new ArrayList<>();

    Rules() {
        for (int n = 0; n < 6000; n++) {
            Rule rule = new Rule();
            rule.zone = n % ZONES;
            rule.name = "rule " + n;
            for (int step = 0; step < 12; step++) {
                rule.steps.add((n * 31 + step * 17) % 900);
            }
            rule.note = "applies from the first of the month, see circular " + n % 75;
            all.add(rule);
        }
    }

    /** The rate of a zone. With the fault it is made of a copy of all rules, so that nobody can change them. */
    int rate(int zone) {
        List<Rule> rules = Main.fault("copy-each") ? mapper.convertValue(all, new TypeReference<List<Rule>>() { }) : all;
        int cents = 0;
        for (Rule rule : rules) {
            if (rule.zone == zone % ZONES) {
                for (int step : rule.steps) {
                    cents = Math.max(cents, step);
                }
            }
        }
        return cents;
    }
}
