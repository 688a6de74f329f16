package turbines;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Collectors;

/** The readings of all turbines of a day, which stay in memory. */
class Readings {
    private static final int TURBINES = 600;
    private static final int MINUTES = 1440;

    record Reading(int minute, float wind, float power) {
    }

    private final List<List<Reading>> day = new ArrayList<>();

    Readings() {
        for (int turbine = 0; turbine < TURBINES; turbine++) {
            List<Reading> all = new ArrayList<>(MINUTES);
            for (int minute = 0; minute < MINUTES; minute++) {
                all.add(new Reading(minute, (turbine * 31 + minute * 17) % 250 / 10f, (turbine * 7 + minute * 13) % 3000));
            }
            day.add(all);
        }
    }

    /** Returns the most power of each hour of the 16 turbines of a row, as JSON. */
    String hourlyMaxima(int row) {
        List<Map<String, Double>> found = new ArrayList<>();
        for (int n = 0; n < 16; n++) {
            List<Reading> all = new ArrayList<>(day.get((row * 16 + n) % TURBINES));
            Map<Integer, List<Reading>> hours = all.stream()
                .map(reading -> new Reading(reading.minute(), reading.wind() * 3.6f, reading.power() / 1000))
                .collect(Collectors.groupingBy(reading -> reading.minute() / 60, TreeMap::new, Collectors.toList()));
            found.add(hours.entrySet().stream().collect(Collectors.toMap(hour -> "hour " + hour.getKey(),
                hour -> hour.getValue().stream().map(reading -> Double.valueOf(reading.power())).max(Double::compare).orElse(0d))));
        }
        return found.stream().map(hours -> hours.entrySet().stream()
                .map(hour -> "\"" + hour.getKey() + "\":" + hour.getValue()).collect(Collectors.joining(",", "{", "}")))
            .collect(Collectors.joining(",", "[", "]"));
    }
}
