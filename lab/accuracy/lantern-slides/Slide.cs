using System;
using System.Collections.Generic;
using System.Threading.Channels;
using System.Threading.Tasks;

namespace LanternSlides
{
    // A slide that was taken out of its drawer. The drawer is told when it is put back: by
    // Dispose, else, if nobody does so, by the finalizer.
    public sealed class Slide : IDisposable
    {
        static readonly Channel<int> returned = Channel.CreateUnbounded<int>();

        readonly Drawers drawers;
        readonly int number;
        readonly List<Stroke> strokes = new List<Stroke>();

        public Slide(Drawers drawers, int number)
        {
            this.drawers = drawers;
            this.number = number;
            var random = new Random(number);
            for (int n = 0; n < 1500; n++)
                strokes.Add(new Stroke(random.Next(4000), random.Next(3000), "colour " + random.Next(40)));
        }

        public IReadOnlyList<Stroke> Strokes => strokes;

        public void Dispose()
        {
            GC.SuppressFinalize(this);
            returned.Writer.TryWrite(number);
        }

        ~Slide() => drawers.Return(number.ToString());

        // Puts back what was disposed of, many at a time.
        public static async Task ReturnAll(Drawers drawers)
        {
            while (await returned.Reader.WaitToReadAsync())
            {
                int slides = 0;
                while (returned.Reader.TryRead(out _))
                    slides++;
                drawers.Return(slides + " slides");
            }
        }
    }

    public sealed class Stroke
    {
        public readonly int X, Y;
        public readonly string Colour;

        public Stroke(int x, int y, string colour)
        {
            X = x;
            Y = y;
            Colour = colour;
        }
    }
}
