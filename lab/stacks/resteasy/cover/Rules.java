package cover;

import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.codehaus.janino.ClassBodyEvaluator;

/** The rules of the regions, which actuaries write as text. They are compiled once; with the fault for each quote. */
public class Rules {
    private final Map<Integer, Rule> compiled = new ConcurrentHashMap<>();

    public interface Rule {
        long cents(int age, int claims);
    }

    Rule of(int region) throws Exception {
        if (Main.fault("compile-each")) {
            return compile(region);
        }
        Rule known = compiled.get(region);
        if (known == null) {
            known = compile(region);
            compiled.put(region, known);
        }
        return known;
    }

    private static Rule compile(int region) throws Exception {
        ClassBodyEvaluator evaluator = new ClassBodyEvaluator();
        evaluator.setImplementedInterfaces(new Class<?>[] {Rule.class});
        evaluator.cook(textOf(region));
        return (Rule) evaluator.getClazz().getDeclaredConstructor().newInstance();
    }

    /** The text of a region's rule: a step for each age, and one for each claim. */
    private static String textOf(int region) {
        StringBuilder text = new StringBuilder("public long cents(int age, int claims) {\n\tlong sum = " + (20_000 + region * 100) + "L;\n");
        for (int age = 18; age < 78; age++) {
            text.append("\tif (age == ").append(age).append(") { sum += ").append(age * 31 % 977).append(" * (claims + 1); }\n");
        }
        for (int claims = 1; claims < 9; claims++) {
            text.append("\tif (claims > ").append(claims).append(") { sum = sum * 1").append(region % 10).append("L / 10L + surcharge(").append(claims).append("); }\n");
        }
        return text + "\treturn sum;\n}\nprivate static long surcharge(int claims) { return 250L * claims * claims; }\n";
    }
}
