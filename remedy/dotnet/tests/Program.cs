using System;
using System.Collections.Generic;
using System.Diagnostics;
using System.Linq;

namespace Unstall.Collections.Tests
{
    // Runs the tests: "quick" for seconds, "long" for minutes, and a seed to repeat one that failed.
    // Exits with 1 if one failed, with 2 if it was not asked properly.
    static class Program
    {
        static int Main(string[] args)
        {
            if (args.Length < 1 || args.Length > 2 || args[0] != "quick" && args[0] != "long")
            {
                Console.Error.WriteLine("usage: Tests quick|long [seed]");
                return 2;
            }
            bool all = args[0] == "long";
            int seed = args.Length > 1 ? int.Parse(args[1]) : Environment.TickCount & 0xffffff;
            Console.WriteLine($".NET {Environment.Version}, seed {seed}");
            var clock = Stopwatch.StartNew();
            var tests = new List<(string name, Func<int, long> run)>();
            void Add(string name, Func<int, long> run) => tests.Add((name, run));

            int steps = all ? 60_000 : 3_000;
            Add("list of int", s => new ListModel<int>(s, i => i, Comparer<int>.Default).Run(3 * steps));
            Add("list of string", s => new ListModel<string?>(s, i => i % 7 == 0 ? null : "s" + i, StringComparer.Ordinal!).Run(steps));
            Add("list of byte", s => new ListModel<byte>(s, i => (byte)i, Comparer<byte>.Default).Run(steps / 2));
            Add("list of double", s => new ListModel<double>(s, i => i % 11 == 0 ? double.NaN : i / 3.0, Comparer<double>.Default).Run(steps));
            Add("list of int?", s => new ListModel<int?>(s, i => i % 5 == 0 ? (int?)null : i, Comparer<int?>.Default).Run(steps));
            Add("list of structs of 3 bytes", s => new ListModel<Three>(s, i => new Three(i), Comparer<Three>.Default).Run(steps / 2));
            Add("list of structs with a reference", s => new ListModel<Mixed>(s, i => new Mixed(i), Comparer<Mixed>.Default).Run(steps));
            Add("list of structs of 6,000 bytes", s => new ListModel<Large>(s, i => new Large(i), Comparer<Large>.Default).Run(steps / 4));
            Add("list of structs of 20,000 bytes", s => new ListModel<Huge>(s, i => new Huge(i), Comparer<Huge>.Default).Run(steps / 8));
            Add("set of int", s => new SetModel<int>(s, i => i, null).Run(2 * steps));
            Add("set of int by remainder", s => new SetModel<int>(s, i => i, new ByRemainder(1000)).Run(steps));
            Add("set of int, all in one chain", s => new SetModel<int>(s, i => i % 40, new SameHash()).Run(steps / 2));
            Add("set of string", s => new SetModel<string?>(s, i => i % 97 == 0 ? null : "s" + i, null).Run(steps));
            Add("set of string, whatever their case", s => new SetModel<string?>(s, i => (i % 2 == 0 ? "S" : "s") + i / 2, StringComparer.OrdinalIgnoreCase!).Run(steps));
            Add("set of structs with a reference", s => new SetModel<Mixed>(s, i => new Mixed(i), null).Run(steps));
            Add("set of structs of 20,000 bytes", s => new SetModel<Huge>(s, i => new Huge(i % 60), null).Run(steps / 16));
            Add("dictionary of int to int", s => new DictionaryModel<int, int>(s, i => i, i => i, null).Run(2 * steps));
            Add("dictionary of string to string", s => new DictionaryModel<string, string?>(s, i => "s" + i, i => i % 5 == 0 ? null : "v" + i, null).Run(steps));
            Add("dictionary of string, whatever their case, to structs", s => new DictionaryModel<string, Mixed>(s, i => (i % 2 == 0 ? "S" : "s") + i / 2, i => new Mixed(i), StringComparer.OrdinalIgnoreCase).Run(steps));
            Add("dictionary of structs to 20,000 bytes", s => new DictionaryModel<Mixed, Huge>(s, i => new Mixed(i % 60), i => new Huge(i), null).Run(steps / 16));
            Add("one by one across chunks", Boundaries.OneByOne);
            Add("sorting", s => Sorting.Run(s, all));
            Add("no array of 85,000 bytes", s => Sizes.Run(all));
            if (all) Add("more chunks than are one step away", Far.Run);
            Add("exceptions", Misuse.Run);
            Add("serialisation", Serialisation.Run);
            Add("base64", Base64.Run);

            long operations = 0;
            var failed = new List<string>();
            foreach ((string name, Func<int, long> run) in tests)
            {
                long before = clock.ElapsedMilliseconds;
                try
                {
                    long n = run(seed);
                    operations += n;
                    Console.WriteLine($"ok   {name}: {n:N0} operations, {clock.ElapsedMilliseconds - before:N0} ms");
                }
                catch (Exception e)
                {
                    failed.Add(name);
                    Console.WriteLine($"FAIL {name}: {(e is Different ? e.Message : e.ToString())}");
                }
            }
            Console.WriteLine($"{operations:N0} operations compared, {clock.ElapsedMilliseconds / 1000.0:F1} s, {failed.Count} of {tests.Count} tests failed");
            return failed.Any() ? 1 : 0;
        }
    }
}
