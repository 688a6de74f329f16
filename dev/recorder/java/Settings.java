import java.util.HashMap;
import java.util.Map;

/** Arguments key=value. Sizes are bytes with k, m or g; times are ms; what is not given is 0. */
final class Settings {
    private final Map<String, String> given = new HashMap<>();

    Settings(String[] arguments) {
        for (String argument : arguments) {
            int at = argument.indexOf('=');
            given.put(argument.substring(0, at), argument.substring(at + 1));
        }
    }

    int number(String key) {
        return (int) size(key);
    }

    long size(String key) {
        String value = given.getOrDefault(key, "0");
        int unit = "kmg".indexOf(value.charAt(value.length() - 1));
        return unit < 0 ? Long.parseLong(value) : Long.parseLong(value.substring(0, value.length() - 1)) << 10 * (unit + 1);
    }
}
