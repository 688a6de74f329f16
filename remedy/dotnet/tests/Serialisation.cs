using System;
using System.Collections.Generic;
using System.Linq;
using System.Text.Json;
using Newtonsoft.Json;

namespace Unstall.Collections.Tests
{
    // To JSON and back, by both libraries, the same text as of the standard collections.
    static class Serialisation
    {
        sealed class Answer
        {
            public ChunkedList<int>? Numbers { get; set; }
            public ChunkedList<string?>? Names { get; set; }
            public ChunkedHashSet<long>? Ids { get; set; }
            public ChunkedDictionary<string, double>? Prices { get; set; }
        }

        sealed class Standard
        {
            public List<int>? Numbers { get; set; }
            public List<string?>? Names { get; set; }
            public HashSet<long>? Ids { get; set; }
            public Dictionary<string, double>? Prices { get; set; }
        }

        public static long Run(int seed)
        {
            foreach (int n in new[] { 0, 1, 1_000, 20_000 })
            {
                var standard = new Standard
                {
                    Numbers = Enumerable.Range(0, n).ToList(),
                    Names = Enumerable.Range(0, n).Select(i => i % 10 == 0 ? null : "näme" + i).ToList(),
                    Ids = new HashSet<long>(Enumerable.Range(0, n).Select(i => i * 3_000_000_000L)),
                    Prices = Enumerable.Range(0, n).ToDictionary(i => "p" + i, i => i / 8.0),
                };
                var ours = new Answer
                {
                    Numbers = new ChunkedList<int>(standard.Numbers),
                    Names = new ChunkedList<string?>(standard.Names),
                    Ids = new ChunkedHashSet<long>(standard.Ids),
                    Prices = new ChunkedDictionary<string, double>(standard.Prices),
                };
                string text = JsonConvert.SerializeObject(standard);
                Check.Equal(text, JsonConvert.SerializeObject(ours), "Newtonsoft.Json");
                Same(standard, JsonConvert.DeserializeObject<Answer>(text)!, "Newtonsoft.Json");

                text = System.Text.Json.JsonSerializer.Serialize(standard);
                Check.Equal(text, System.Text.Json.JsonSerializer.Serialize(ours), "System.Text.Json");
                Same(standard, System.Text.Json.JsonSerializer.Deserialize<Answer>(text)!, "System.Text.Json");
            }
            return 4 * 21_001 * 8;
        }

        static void Same(Standard wanted, Answer got, string by)
        {
            Check.Sequence(wanted.Numbers!, got.Numbers!, by + ": list");
            Check.Sequence(wanted.Names!, got.Names!, by + ": list of strings");
            Check.True(got.Ids!.SetEquals(wanted.Ids!), by + ": set");
            Check.Sequence(wanted.Prices!.OrderBy(p => p.Key), got.Prices!.OrderBy(p => p.Key), by + ": dictionary");
        }
    }
}
