using System;
using System.Collections.Generic;
using System.Globalization;
using System.Linq;
using System.Runtime;

namespace Unstall.Collections.Benchmarks
{
    // Measures the collections against the standard ones, in turn in one process, and prints ratios beside what was
    // asked and what the article measured of its own. Exits with 1 if one misses what was asked.
    //
    //   Benchmarks [--only=PART OF A NAME] [--seconds=HOW LONG EACH] [--asked]
    static class Program
    {
        static int Main(string[] args)
        {
            CultureInfo.CurrentCulture = CultureInfo.InvariantCulture;
            string only = "";
            double seconds = 2;
            bool asked = false;
            foreach (string a in args)
            {
                if (a.StartsWith("--only=")) only = a.Substring(7);
                else if (a.StartsWith("--seconds=")) seconds = double.Parse(a.Substring(10));
                else if (a == "--asked") asked = true;
                else
                {
                    Console.Error.WriteLine("usage: Benchmarks [--only=PART OF A NAME] [--seconds=HOW LONG EACH] [--asked]");
                    return 2;
                }
            }
            Console.WriteLine($".NET {Environment.Version}, {Environment.ProcessorCount} CPUs, {(GCSettings.IsServerGC ? "server" : "workstation")} GC, {GCSettings.LatencyMode}");
            Console.WriteLine("means ± half of their 99.9 % intervals; collections per 1,000 operations, those of older generations counted in the younger ones too; allocated per operation");
            Console.WriteLine();
            var misses = new List<string>();
            Table.Head();
            foreach (Case c in Cases.All().Where(c => c.Name.Contains(only) && (!asked || c.Asked < double.PositiveInfinity)))
            {
                Result r = Measurement.Of(c, seconds);
                Table.Row(c, r);
                misses.AddRange(Table.Misses(c, r));
                GC.Collect();
            }
            Console.WriteLine();
            foreach (string miss in misses) Console.WriteLine("MISSED " + miss);
            if (misses.Count == 0) Console.WriteLine("nothing missed of what was asked");
            return misses.Count == 0 ? 0 : 1;
        }
    }
}
