using System.Text;

namespace ChoirScores
{
    // A note of a voice, and the one that follows.
    public sealed class Note
    {
        public readonly byte Pitch, Length;
        public Note Next;

        public Note(int pitch, int length)
        {
            Pitch = (byte)pitch;
            Length = (byte)length;
        }
    }

    // All scores of a choir: 400 pieces in four voices.
    public sealed class Library
    {
        const int Pieces = 400, Voices = 4, Notes = 3200;
        static readonly string[] Names = { "c", "d", "e", "f", "g", "a", "b" };

        readonly Note[][] pieces = new Note[Pieces][];

        public Library()
        {
            for (int piece = 0; piece < Pieces; piece++)
                pieces[piece] = new Note[Voices];
            for (int at = Notes; at > 0; at--)
                for (int piece = 0; piece < Pieces; piece++)
                    for (int voice = 0; voice < Voices; voice++)
                        pieces[piece][voice] = new Note((at * 7 + piece + voice) % 49, 1 + at % 4) { Next = pieces[piece][voice] };
        }

        // Prints a piece on one long strip of paper.
        public string Print(int piece)
        {
            var strip = new StringBuilder(80_000);
            foreach (Note first in pieces[piece % Pieces])
            {
                for (Note note = first; note != null; note = note.Next)
                    strip.Append(Names[note.Pitch % 7]).Append(note.Pitch / 7).Append('.', note.Length).Append(' ');
                strip.Append('\n');
            }
            return strip.ToString();
        }
    }
}
