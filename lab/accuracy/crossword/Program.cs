using System;
using System.Collections.Generic;
using System.Linq;
using System.Text;
using System.Text.RegularExpressions;
using System.Threading.Tasks;
using Microsoft.AspNetCore.Builder;
using Microsoft.AspNetCore.Hosting;
using Microsoft.AspNetCore.Http;
using Microsoft.AspNetCore.Routing;
using Microsoft.Extensions.DependencyInjection;

namespace Crossword
{
    // Words for a crossword: /word/{pattern} looks one up, /solve/{letters} searches all
    // words with a regular expression that backtracks. With FAULT=0 the same words are
    // found by comparing letters.
    public sealed class Dictionary
    {
        readonly string[] words;
        readonly HashSet<string> all;

        public Dictionary(int size)
        {
            var random = new Random(5);
            words = Enumerable.Range(0, size).Select(_ => Word(random)).ToArray();
            all = new HashSet<string>(words);
        }

        static string Word(Random random)
        {
            var word = new StringBuilder();
            for (int length = random.Next(6, 14); length > 0; length--)
                word.Append("aeioustrnl"[random.Next(10)]);
            return word.ToString();
        }

        public bool Has(string word) => all.Contains(word);

        // Words in which the letters come in this order, each any number of times.
        public int Solve(string letters)
        {
            var pattern = new Regex("^" + string.Concat(letters.Select(letter => "(.*" + letter + ")+")) + ".*$");
            return words.Count(word => pattern.IsMatch(word));
        }

        public int SolveByLetters(string letters)
        {
            int found = 0;
            foreach (string word in words)
            {
                int next = 0;
                for (int i = 0; i < word.Length && next < letters.Length; i++)
                    if (word[i] == letters[next])
                        next++;
                found += next == letters.Length ? 1 : 0;
            }
            return found;
        }
    }

    public static class Program
    {
        public static void Main()
        {
            bool backtracks = Environment.GetEnvironmentVariable("FAULT") != "0";
            var dictionary = new Dictionary(40_000);
            new WebHostBuilder()
                .UseKestrel()
                .UseUrls("http://" + Environment.GetEnvironmentVariable("ADDR"))
                .ConfigureServices(services => services.AddRouting())
                .Configure(app =>
                {
                    var routes = new RouteBuilder(app);
                    routes.MapGet("word/{word}", context => Say(context, dictionary.Has((string)context.GetRouteValue("word")) ? 1 : 0));
                    routes.MapGet("solve/{letters}", context =>
                    {
                        string letters = (string)context.GetRouteValue("letters");
                        return Say(context, backtracks ? dictionary.Solve(letters) : dictionary.SolveByLetters(letters));
                    });
                    app.UseRouter(routes.Build());
                })
                .Build()
                .Run();
        }

        static Task Say(HttpContext context, int found) => context.Response.WriteAsync("{\"found\":" + found + "}");
    }
}
