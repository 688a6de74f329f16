using System;
using System.Collections.Generic;
using System.Diagnostics;
using System.Linq;

namespace Unstall.Collections.Benchmarks
{
    // What one of the two did: per operation.
    sealed class Side
    {
        public readonly List<double> Nanoseconds = new List<double>();
        public long Operations, Bytes;
        public readonly long[] Collections = new long[3];
        public int Outliers;
        public double Mean, Error;

        public double PerThousand(int generation) => 1000.0 * Collections[generation] / Operations;

        public double BytesPerOperation => (double)Bytes / Operations;
    }

    sealed class Result
    {
        public readonly Side Standard = new Side(), Ours = new Side();
        public double Ratio, Low, High; // of the geometric mean of pairs, 99.9 %
        public int Pairs;
    }

    // BenchmarkDotNet's discipline: a pilot finds how many operations an iteration has, warm-up lets the compiler finish,
    // then many iterations, each after a full collection that is not counted. Here the two take turns, and which
    // one is first changes, so that what else happens on the machine meets both.
    static class Measurement
    {
        const double IterationMilliseconds = 25;
        const int LeastPairs = 15, MostPairs = 60;

        public static Result Of(Case c, double seconds)
        {
            (Func<long> standard, Func<long> ours) = (c.Standard(), c.Ours());
            if (standard() != ours()) throw new InvalidOperationException($"{c.Name}: the two computed different results");
            int operations = Math.Max(Pilot(standard), Pilot(ours));
            var clock = Stopwatch.StartNew();
            for (int i = 0; i < 6 || clock.Elapsed.TotalSeconds < seconds / 4 || i * operations < 40 && i < 15; i++)
            {
                Iteration(standard, operations, null);
                Iteration(ours, operations, null);
            }
            var result = new Result();
            clock.Restart();
            while (result.Pairs < LeastPairs || result.Pairs < MostPairs && clock.Elapsed.TotalSeconds < seconds)
            {
                if (result.Pairs++ % 2 == 0)
                {
                    Iteration(standard, operations, result.Standard);
                    Iteration(ours, operations, result.Ours);
                }
                else
                {
                    Iteration(ours, operations, result.Ours);
                    Iteration(standard, operations, result.Standard);
                }
            }
            Summarise(result);
            return result;
        }

        static int Pilot(Func<long> run)
        {
            for (int n = 1; ; n *= 2)
            {
                var clock = Stopwatch.StartNew();
                for (int i = 0; i < n; i++) run();
                if (clock.Elapsed.TotalMilliseconds >= IterationMilliseconds) return n;
            }
        }

        static void Iteration(Func<long> run, int operations, Side? side)
        {
            GC.Collect();
            GC.WaitForPendingFinalizers();
            GC.Collect();
            int gen0 = GC.CollectionCount(0), gen1 = GC.CollectionCount(1), gen2 = GC.CollectionCount(2);
            long bytes = GC.GetTotalAllocatedBytes(true), start = Stopwatch.GetTimestamp();
            for (int i = 0; i < operations; i++) run();
            long end = Stopwatch.GetTimestamp();
            if (side == null) return;
            side.Bytes += GC.GetTotalAllocatedBytes(true) - bytes; // the thread's own, on 3.1, are without large objects
            side.Collections[0] += GC.CollectionCount(0) - gen0;
            side.Collections[1] += GC.CollectionCount(1) - gen1;
            side.Collections[2] += GC.CollectionCount(2) - gen2;
            side.Operations += operations;
            side.Nanoseconds.Add((end - start) * 1e9 / Stopwatch.Frequency / operations);
        }

        static void Summarise(Result r)
        {
            double[] logs = r.Standard.Nanoseconds.Zip(r.Ours.Nanoseconds, (s, o) => Math.Log(o / s)).ToArray();
            double[] kept = WithoutOutliers(logs, both: true);
            (double mean, double error) = Interval(kept);
            (r.Ratio, r.Low, r.High) = (Math.Exp(mean), Math.Exp(mean - error), Math.Exp(mean + error));
            foreach (Side side in new[] { r.Standard, r.Ours })
            {
                kept = WithoutOutliers(side.Nanoseconds.ToArray(), both: false);
                side.Outliers = side.Nanoseconds.Count - kept.Length;
                (side.Mean, side.Error) = Interval(kept);
            }
        }

        // Tukey's fences: 1.5 times the distance of the quartiles beyond them. Of times only the slow ones are outliers.
        static double[] WithoutOutliers(double[] values, bool both)
        {
            double[] sorted = values.OrderBy(x => x).ToArray();
            double q1 = sorted[sorted.Length / 4], q3 = sorted[sorted.Length * 3 / 4], fence = 1.5 * (q3 - q1);
            return values.Where(x => x <= q3 + fence && (!both || x >= q1 - fence)).ToArray();
        }

        static (double mean, double error) Interval(double[] values)
        {
            double mean = values.Average(), squares = values.Sum(x => (x - mean) * (x - mean));
            double deviation = Math.Sqrt(squares / (values.Length - 1));
            return (mean, Student(values.Length - 1) * deviation / Math.Sqrt(values.Length));
        }

        // The two-sided 99.9 % quantile of Student's distribution, by Cornish and Fisher's expansion of the normal one's.
        static double Student(int freedom)
        {
            const double z = 3.2905;
            double n = freedom, z3 = z * z * z, z5 = z3 * z * z;
            return z + (z3 + z) / (4 * n) + (5 * z5 + 16 * z3 + 3 * z) / (96 * n * n) + (3 * z5 * z * z + 19 * z5 + 17 * z3 - 15 * z) / (384 * n * n * n);
        }
    }
}
