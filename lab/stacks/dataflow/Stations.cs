using System;
using System.Collections.Generic;
using System.Globalization;
using System.Linq;

namespace Weather
{
    // Reports of stations: a year of readings as text, of which many are no numbers as an instrument was out of order.
    public sealed class Stations
    {
        private const int Readings = 5000;
        private readonly List<string[]> reports = Enumerable.Range(0, 50).Select(Report).ToList();

        private static string[] Report(int station) => Enumerable.Range(0, Readings)
            .Select(n => (n + station) % 3 == 0 ? "n/a" : ((n * 31 + station * 7) % 400 - 100).ToString(CultureInfo.InvariantCulture)).ToArray();

        public long Mean(int station)
        {
            long sum = 0, count = 0;
            foreach (var reading in reports[station % reports.Count])
            {
                if (!Read(reading, out var tenths))
                    continue;
                sum += tenths;
                count++;
            }
            return count == 0 ? 0 : sum / count;
        }

        // With the fault an exception tells that a reading is no number.
        private static bool Read(string reading, out int tenths)
        {
            if (!Program.Has("parse-by-exception"))
                return int.TryParse(reading, NumberStyles.AllowLeadingSign, CultureInfo.InvariantCulture, out tenths);
            try
            {
                tenths = int.Parse(reading, NumberStyles.AllowLeadingSign, CultureInfo.InvariantCulture);
                return true;
            }
            catch (FormatException)
            {
                tenths = 0;
                return false;
            }
        }
    }
}
