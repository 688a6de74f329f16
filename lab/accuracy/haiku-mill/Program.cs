using System;
using System.Collections.Generic;
using System.Linq;
using System.Text;
using Microsoft.AspNetCore.Builder;
using Microsoft.AspNetCore.Hosting;
using Microsoft.AspNetCore.Http;
using Microsoft.AspNetCore.Mvc;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Hosting;
using Microsoft.Extensions.Logging;

namespace HaikuMill
{
    // A word and how many syllables it has.
    public sealed class Word
    {
        public string Text { get; }
        public int Syllables { get; }

        public Word(string text, int syllables)
        {
            Text = text;
            Syllables = syllables;
        }
    }

    // Makes haiku: for each line many drafts of random words, of which those with the right
    // number of syllables are judged. All drafts are garbage by the end of a request.
    public sealed class Mill
    {
        const int Drafts = 350;

        static readonly int[] lines = { 5, 7, 5 };
        static readonly Word[] words = (
            "old:1 pond:1 frog:1 leaps:1 in:1 water:2 sound:1 autumn:2 moonlight:2 worm:1 digs:1 silently:3 into:2 " +
            "chestnut:2 winter:2 solitude:3 one:1 color:2 world:1 wind:1 blossom:2 evening:2 temple:2 bell:1 butterfly:3 " +
            "dragonfly:3 mountain:2 river:2 over:2 the:1 a:1 of:1 snow:1 lantern:2 cicada:3 cries:1 loneliness:3 rain:1")
            .Split(' ').Select(entry => entry.Split(':')).Select(entry => new Word(entry[0], int.Parse(entry[1]))).ToArray();

        public string Haiku(int seed)
        {
            var random = new Random(seed);
            return string.Join("\n", lines.Select(syllables => Line(random, syllables)));
        }

        static string Line(Random random, int syllables)
        {
            List<Word[]> drafts = Enumerable.Range(0, Drafts).Select(_ => Draft(random).ToArray()).ToList();
            return drafts.Where(draft => draft.Sum(word => word.Syllables) == syllables)
                .Select(Text)
                .OrderByDescending(Melody)
                .FirstOrDefault() ?? "silence";
        }

        static IEnumerable<Word> Draft(Random random)
        {
            int count = 3 + random.Next(3);
            for (int n = 0; n < count; n++)
                yield return words[random.Next(words.Length)];
        }

        static string Text(Word[] draft)
        {
            var text = new StringBuilder();
            foreach (Word word in draft)
                text.Append(text.Length == 0 ? "" : " ").Append(word.Text);
            return text.ToString();
        }

        // How many of the letters are vowels that differ from the last.
        static int Melody(string text)
        {
            char[] vowels = text.Where(letter => "aeiouy".Contains(letter)).ToArray();
            return vowels.Skip(1).Zip(vowels, (next, last) => next != last).Count(changes => changes);
        }
    }

    [ApiController]
    [Route("haiku")]
    public sealed class HaikuController : ControllerBase
    {
        readonly Mill mill;

        public HaikuController(Mill mill) => this.mill = mill;

        [HttpGet("{seed:int}")]
        public string Get(int seed) => mill.Haiku(seed);
    }

    // Nothing is wrong here: 60 MB of garbage per second that does not live to see a second
    // collection.
    public static class Program
    {
        public static void Main(string[] args) => Host.CreateDefaultBuilder(args)
            .ConfigureLogging(logging => logging.ClearProviders())
            .ConfigureWebHostDefaults(web => web
                .UseUrls("http://" + Environment.GetEnvironmentVariable("ADDR"))
                .ConfigureServices(services =>
                {
                    services.AddSingleton<Mill>();
                    services.AddControllers();
                })
                .Configure(app => app.UseRouting().UseEndpoints(routes => routes.MapControllers())))
            .Build()
            .Run();
    }
}
