import java.io.File;
import java.util.Comparator;
import java.util.List;
import java.util.concurrent.Future;
import java.util.stream.Collectors;
import org.openjdk.jmc.common.item.IItemCollection;
import org.openjdk.jmc.common.util.IPreferenceValueProvider;
import org.openjdk.jmc.flightrecorder.JfrLoaderToolkit;
import org.openjdk.jmc.flightrecorder.rules.IResult;
import org.openjdk.jmc.flightrecorder.rules.IRule;
import org.openjdk.jmc.flightrecorder.rules.ResultToolkit;
import org.openjdk.jmc.flightrecorder.rules.RuleRegistry;
import org.openjdk.jmc.flightrecorder.rules.Severity;
import org.openjdk.jmc.flightrecorder.rules.util.RulesToolkit;

/** Prints what Mission Control's rules say of flight recordings: file, rule, severity and summary, a line each with tabs between. */
public class Rules {
    public static void main(String[] args) throws Exception {
        List<IRule> rules = RuleRegistry.getRules().stream().sorted(Comparator.comparing(IRule::getId)).collect(Collectors.toList());
        for (String file : args) {
            IItemCollection events = JfrLoaderToolkit.loadEvents(new File(file));
            var results = RulesToolkit.evaluateParallel(rules, events, IPreferenceValueProvider.DEFAULT_VALUES, 1);
            for (IRule rule : rules) {
                Future<IResult> future = results.get(rule);
                IResult result = future.get();
                Severity severity = result.getSeverity();
                if (severity == Severity.INFO || severity == Severity.WARNING) {
                    String summary = ResultToolkit.populateMessage(result, result.getSummary(), false).replaceAll("\\s+", " ");
                    System.out.println(file + "\t" + rule.getId() + "\t" + rule.getName() + "\t" + severity + "\t" + summary);
                }
            }
        }
    }
}
