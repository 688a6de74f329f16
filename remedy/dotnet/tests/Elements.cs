using System;
using System.Runtime.InteropServices;

namespace Unstall.Collections.Tests
{
    readonly struct Three : IEquatable<Three>, IComparable<Three>
    {
        readonly byte _a, _b, _c;
        public Three(int i) => (_a, _b, _c) = ((byte)i, (byte)(i >> 8), (byte)(i >> 16));
        int Value => _a | _b << 8 | _c << 16;
        public bool Equals(Three other) => Value == other.Value;
        public override bool Equals(object? o) => o is Three other && Equals(other);
        public override int GetHashCode() => Value;
        public int CompareTo(Three other) => Value.CompareTo(other.Value);
    }

    readonly struct Mixed : IEquatable<Mixed>, IComparable<Mixed>
    {
        readonly string? _name;
        readonly long _number;
        readonly byte _more;
        public Mixed(int i) => (_name, _number, _more) = (i % 3 == 0 ? null : "m" + i % 100, i, (byte)i);
        public bool Equals(Mixed other) => _number == other._number && _name == other._name && _more == other._more;
        public override bool Equals(object? o) => o is Mixed other && Equals(other);
        public override int GetHashCode() => _number.GetHashCode();
        public int CompareTo(Mixed other) => _number.CompareTo(other._number);
        public override string ToString() => $"{_number} {_name}";
    }

    [StructLayout(LayoutKind.Sequential, Size = 6000)]
    readonly struct Large : IEquatable<Large>, IComparable<Large>
    {
        readonly int _value;
        public Large(int i) => _value = i;
        public bool Equals(Large other) => _value == other._value;
        public override bool Equals(object? o) => o is Large other && Equals(other);
        public override int GetHashCode() => _value;
        public int CompareTo(Large other) => _value.CompareTo(other._value);
    }

    [StructLayout(LayoutKind.Sequential, Size = 20000)]
    readonly struct Huge : IEquatable<Huge>, IComparable<Huge>
    {
        readonly int _value;
        public Huge(int i) => _value = i;
        public bool Equals(Huge other) => _value == other._value;
        public override bool Equals(object? o) => o is Huge other && Equals(other);
        public override int GetHashCode() => _value;
        public int CompareTo(Huge other) => _value.CompareTo(other._value);
    }

    // A chunk of a list has one of these.
    [StructLayout(LayoutKind.Sequential, Size = 8200)]
    readonly struct Page : IEquatable<Page>, IComparable<Page>
    {
        readonly int _value;
        public Page(int i) => _value = i;
        public int Value => _value;
        public bool Equals(Page other) => _value == other._value;
        public override bool Equals(object? o) => o is Page other && Equals(other);
        public override int GetHashCode() => _value;
        public int CompareTo(Page other) => _value.CompareTo(other._value);
        public override string ToString() => _value.ToString();
    }

    // So has a chunk of a set.
    [StructLayout(LayoutKind.Sequential, Size = 32_800)]
    readonly struct Sheet : IEquatable<Sheet>
    {
        readonly int _value;
        public Sheet(int i) => _value = i;
        public int Value => _value;
        public bool Equals(Sheet other) => _value == other._value;
        public override bool Equals(object? o) => o is Sheet other && Equals(other);
        public override int GetHashCode() => _value;
    }
}
