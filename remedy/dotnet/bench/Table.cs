using System;
using System.Collections.Generic;

namespace Unstall.Collections.Benchmarks
{
    static class Table
    {
        const string Format = "| {0,-42} | {1,-27} | {2,-12} | {3,20} | {4,20} | {5,28} | {6,28} | {7,21} | {8} |";

        public static void Head()
        {
            Line("test", "ours ÷ standard", "asked", "standard", "ours", "gen 0/1/2 of the standard", "of ours", "allocated", "article's");
            Line("---", "---", "---", "---", "---", "---", "---", "---", "---");
        }

        static void Line(params object[] cells) => Console.WriteLine(Format, cells);

        public static void Row(Case c, Result r)
        {
            string asked = double.IsInfinity(c.Asked) ? "" : $"≤ {c.Asked:0.0#}×{(r.Ratio <= c.Asked ? "" : " MISSED")}";
            Line(c.Name, $"{r.Ratio:0.00}× ({r.Low:0.00}–{r.High:0.00}), {r.Pairs} pairs", asked, Time(r.Standard), Time(r.Ours),
                Collections(r.Standard), Collections(r.Ours), $"{Bytes(r.Standard)} → {Bytes(r.Ours)}", c.Article);
        }

        public static IEnumerable<string> Misses(Case c, Result r)
        {
            if (r.Ratio > c.Asked) yield return $"{c.Name}: {r.Ratio:0.00}× ({r.Low:0.00}–{r.High:0.00}), asked ≤ {c.Asked:0.0#}×";
            if (c.NoGen2 && r.Ours.Collections[2] > 0) yield return $"{c.Name}: {r.Ours.PerThousand(2):0.###} gen 2 collections per 1,000 operations, asked 0";
            double memory = r.Ours.BytesPerOperation / r.Standard.BytesPerOperation;
            if (memory > c.Memory) yield return $"{c.Name}: {memory:0.000}× the memory, asked ≤ {c.Memory:0.0#}×";
        }

        static string Time(Side s)
        {
            (double by, string unit) = s.Mean < 1e3 ? (1, "ns") : s.Mean < 1e6 ? (1e3, "µs") : (1e6, "ms");
            return $"{s.Mean / by:0.0##} ± {s.Error / by:0.0##} {unit}{(s.Outliers > 0 ? $" ({s.Outliers})" : "")}";
        }

        static string Collections(Side s) => $"{s.PerThousand(0):0.####}/{s.PerThousand(1):0.####}/{s.PerThousand(2):0.####}";

        static string Bytes(Side s) => s.BytesPerOperation < 1 ? "0" : s.BytesPerOperation < 1024 ? $"{s.BytesPerOperation:0} B" : s.BytesPerOperation < 10 << 20 ? $"{s.BytesPerOperation / 1024:0.##} KB" : $"{s.BytesPerOperation / (1 << 20):0.#} MB";
    }
}
